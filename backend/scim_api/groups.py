"""Groups of the protocol. By their names they give their members a role."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from backend.domain.accounts.provisioning.groups import MOST_GROUP_MEMBERS, ProvisionedGroup
from backend.domain.accounts.provisioning.search import Condition, ResultPage
from backend.domain.accounts.single_sign_on.group_roles import GROUP_RULE
from backend.domain.errors import InvalidField, MissingField
from backend.domain.ids import OrgId
from backend.scim_api.kind import ResourceKind, meta, text_or_none
from backend.scim_api.resources import GroupMember, ScimGroup
from backend.storage.accounts.directory.groups import GROUPS
from backend.storage.accounts.provisioning.group_changes import add_group, change_group, delete_group
from backend.storage.driver.mongo import Database


class Groups(ResourceKind[ScimGroup]):
    """The groups of one organization."""

    def __init__(self, database: Database, org_id: OrgId, base_url: str) -> None:
        self._database = database
        self._org_id = org_id
        self._base_url = base_url

    async def get(self, resource_id: str) -> ScimGroup:
        """The group with this id. Raises ItemUnknown."""
        return self._resource(await GROUPS.get(self._database, self._org_id, resource_id))

    async def search(self, condition: Condition, page: ResultPage) -> tuple[int, list[ScimGroup]]:
        """How many fit, and those of the page."""
        total, found = await GROUPS.search(self._database, self._org_id, condition, page)
        return total, [self._resource(group) for group in found]

    async def create(self, resource: ScimGroup, new_id: str, now: datetime) -> ScimGroup:
        """Store a new group."""
        await add_group(self._database, self._group(resource, new_id, now))
        return await self.get(new_id)

    async def update(self, resource: ScimGroup, version: int, now: datetime) -> ScimGroup:
        """Store a group in the place of the one with its id."""
        assert resource.id is not None
        await change_group(self._database, self._group(resource, resource.id, now), version)
        return await self.get(resource.id)

    async def delete(self, resource_id: str, version: int, now: datetime) -> None:
        """Delete a group: what it gave its members ends."""
        await delete_group(self._database, self._org_id, resource_id, version)

    def _group(self, group: ScimGroup, group_id: str, now: datetime) -> ProvisionedGroup:
        """The group of a resource. Raises InvalidField."""
        return ProvisionedGroup(
            group_id,
            self._org_id,
            GROUP_RULE.parse("displayName", group.display_name),
            created_at=now,
            modified_at=now,
            external_id=text_or_none("externalId", group.external_id),
            member_ids=_member_ids(group.members or []),
        )

    def _resource(self, group: ProvisionedGroup) -> ScimGroup:
        return ScimGroup(
            id=group.id,
            external_id=group.external_id,
            display_name=group.display_name,
            members=[self._member(member_id) for member_id in group.member_ids] or None,
            meta=meta("Group", group.created_at, group.modified_at, group.version),
        )

    def _member(self, member_id: str) -> GroupMember:
        """A member. It is not checked again: there may be thousands."""
        ref: Any = f"{self._base_url}/Users/{member_id}"
        return GroupMember.model_construct(value=member_id, ref=ref, type="User")


def _member_ids(members: list[GroupMember]) -> tuple[str, ...]:
    """The ids of these members, each once, in their order. Raises FieldError."""
    member_ids = dict.fromkeys(member.value for member in members)
    if None in member_ids:
        raise MissingField("members.value")
    if len(member_ids) > MOST_GROUP_MEMBERS:
        raise InvalidField("members", f"must have at most {MOST_GROUP_MEMBERS} entries")
    return tuple(member_id for member_id in member_ids if member_id is not None)

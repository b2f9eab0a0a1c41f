"""Users of the protocol: people whom the organization's provider tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from scim2_models import Name

from backend.domain.accounts.provisioning.people import MOST_EMAILS, ProvisionedEmail, ProvisionedPerson
from backend.domain.accounts.provisioning.search import Condition, ResultPage
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.ids import OrgId
from backend.scim_api.kind import ResourceKind, meta, text, text_or_none
from backend.scim_api.resources import Email, GroupOfUser, ScimUser
from backend.storage.accounts.directory import groups
from backend.storage.accounts.directory.people import PEOPLE
from backend.storage.accounts.provisioning.people_changes import add_person, change_person, delete_person
from backend.storage.driver.mongo import Database


class Users(ResourceKind[ScimUser]):
    """The users of one organization."""

    def __init__(self, database: Database, org_id: OrgId, base_url: str) -> None:
        self._database = database
        self._org_id = org_id
        self._base_url = base_url

    async def get(self, resource_id: str) -> ScimUser:
        """The user with this id. Raises ItemUnknown."""
        [user] = await self._users([await PEOPLE.get(self._database, self._org_id, resource_id)])
        return user

    async def search(self, condition: Condition, page: ResultPage) -> tuple[int, list[ScimUser]]:
        """How many fit, and those of the page."""
        total, found = await PEOPLE.search(self._database, self._org_id, condition, page)
        return total, await self._users(found)

    async def create(self, resource: ScimUser, new_id: str, now: datetime) -> ScimUser:
        """Store a new user."""
        person = self._person(resource, new_id, now)
        await add_person(self._database, replace(person, active=person.is_active))
        return await self.get(new_id)

    async def update(self, resource: ScimUser, version: int, now: datetime) -> ScimUser:
        """Store a user in the place of the one with their id."""
        assert resource.id is not None
        await change_person(self._database, self._person(resource, resource.id, now), version)
        return await self.get(resource.id)

    async def delete(self, resource_id: str, version: int, now: datetime) -> None:
        """Delete a user: they are no member any more, and in no group."""
        await delete_person(self._database, self._org_id, resource_id, version, now)

    def _person(self, user: ScimUser, person_id: str, now: datetime) -> ProvisionedPerson:
        """The person of a resource. Raises InvalidField."""
        return ProvisionedPerson(
            person_id,
            self._org_id,
            text("userName", user.user_name),
            created_at=now,
            modified_at=now,
            is_active=user.active is not False,
            active=user.active,
            external_id=text_or_none("externalId", user.external_id),
            display_name=text_or_none("displayName", user.display_name),
            name=_name(user.name),
            emails=_emails(user.emails or []),
        )

    async def _users(self, found: Collection[ProvisionedPerson]) -> list[ScimUser]:
        of_person: defaultdict[str, list[GroupOfUser]] = defaultdict(list)
        wanted = {person.id for person in found}
        for group in await groups.groups_of(self._database, self._org_id, wanted):
            address = f"{self._base_url}/Groups/{group.id}"
            told = {"value": group.id, "$ref": address, "display": group.display_name}
            shown = GroupOfUser.model_validate(told)
            for person_id in wanted.intersection(group.member_ids):
                of_person[person_id].append(shown)
        return [_user(person, of_person[person.id]) for person in found]


def _user(person: ProvisionedPerson, own_groups: list[GroupOfUser]) -> ScimUser:
    return ScimUser(
        id=person.id,
        external_id=person.external_id,
        user_name=person.user_name,
        name=Name.model_validate(person.name) if person.name else None,
        display_name=person.display_name,
        active=person.active,
        emails=[
            Email(value=email.value, type=email.type, primary=email.is_primary) for email in person.emails
        ]
        or None,
        groups=own_groups or None,
        meta=meta("User", person.created_at, person.modified_at, person.version),
    )


def _name(name: Name | None) -> dict[str, str]:
    parts = name.model_dump() if name else {}
    return {part: text(f"name.{part}", value) for part, value in parts.items() if value}


def _emails(emails: list[Email]) -> tuple[ProvisionedEmail, ...]:
    if len(emails) > MOST_EMAILS:
        raise InvalidField("emails", f"must have at most {MOST_EMAILS} entries")
    return tuple(
        ProvisionedEmail(_address(email.value), text_or_none("emails.type", email.type), email.primary)
        for email in emails
        if email.value
    )


def _address(value: str) -> str:
    """The address as the provider wrote it, by which it reads it again. Raises InvalidField."""
    EmailAddress().parse("emails.value", value)
    return value

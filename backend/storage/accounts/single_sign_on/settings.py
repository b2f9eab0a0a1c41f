"""The `single_sign_on` collection: what each organization says about its identity provider and its groups."""

from __future__ import annotations

from dataclasses import asdict

from backend.domain.accounts.roles import Role
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ById

NAME = "single_sign_on"
COLLECTION = Collection(
    name=NAME,
    indexes=[],
    owned_by=ById(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("one small document an organization"),
)


async def find_group_roles(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> GroupRoles:
    """The organization's. Where none were set, no group has a role, and nobody else has one either."""
    document = await database[NAME].find_one({"_id": org_id}, {"group_roles": 1}, session=session)
    return _group_roles_in(document)


async def set_group_roles(database: Database, org_id: OrgId, group_roles: GroupRoles) -> GroupRoles:
    """Set which roles groups give. Returns those of before.

    Nobody's role changes by it: each has another one from the next sign-in, or provisioning, on.
    """
    stored = {"mapping": [asdict(group_role) for group_role in group_roles.mapping]}
    changed = {"$set": {"group_roles": stored | {"otherwise": group_roles.otherwise}}}
    return _group_roles_in(await database[NAME].find_one_and_update({"_id": org_id}, changed, upsert=True))


def _group_roles_in(document: Document | None) -> GroupRoles:
    stored = (document or {}).get("group_roles", {})
    mapping = tuple(GroupRole(row["group"], Role(row["role"])) for row in stored.get("mapping", ()))
    otherwise = stored.get("otherwise")
    return GroupRoles(mapping, Role(otherwise) if otherwise else None)

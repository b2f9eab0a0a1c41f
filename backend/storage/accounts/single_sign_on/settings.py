"""The `single_sign_on` collection: what each organization says about its identity provider and its groups."""

from __future__ import annotations

from backend.domain.accounts.single_sign_on.group_roles import (
    GROUP_RULE,
    MOST_GROUP_ROLES,
    GroupRole,
    GroupRoles,
)
from backend.domain.accounts.single_sign_on.provider import IdentityProvider, provider_fields
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.domain.ids import OrgId
from backend.storage.accounts import organizations
from backend.storage.accounts.directory import identities
from backend.storage.accounts.users import sessions
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import DocumentFields, list_of, nested, or_none
from backend.storage.schema.document_shape import DocumentShape
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
    audited=Audited(kind="single_sign_on", hidden=frozenset({"client_secret"})),
    # The client secret signs people in, and is never shown: without it, a provider is of no use.
    withheld={"provider": None},
)
_GROUP_ROLE = DocumentShape(record=GroupRole, rules={"group": GROUP_RULE.parse}, id_field=None)
_GROUP_ROLES = DocumentShape(
    record=GroupRoles,
    rules={"mapping": list_of(nested(_GROUP_ROLE.fields), MOST_GROUP_ROLES)},
    id_field=None,
)
_PROVIDER = DocumentShape(
    record=IdentityProvider,
    # Whether loopback addresses are allowed is not for an archive to say.
    rules={name: rule.parse for name, rule in provider_fields(allows_loopback=True).items()},
    id_field=None,
)
# What an archive has: one may be set without the other.
FIELDS = DocumentFields(
    {}, {"group_roles": nested(_GROUP_ROLES.fields), "provider": or_none(nested(_PROVIDER.fields))}
)


async def find_group_roles(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> GroupRoles:
    """The roles that groups give. Where none were set, nobody has one."""
    document = await database[NAME].find_one({"_id": org_id}, {"group_roles": 1}, session=session) or {}
    return _GROUP_ROLES.from_document(document.get("group_roles", {}))


async def set_group_roles(
    database: Database, org_id: OrgId, group_roles: GroupRoles, session: ClientSession | None = None
) -> None:
    """Set which roles groups give.

    Nobody's role changes by it: provisioning/people_changes.py does that for people whom the provider told.
    """
    changed = {"$set": {"group_roles": _GROUP_ROLES.to_document(group_roles)}}
    await database[NAME].update_one({"_id": org_id}, changed, upsert=True, session=session)


async def find_provider(
    database: Database, org_id: OrgId, session: ClientSession | None = None
) -> IdentityProvider | None:
    """The organization's provider; None if it has none."""
    return _provider_in(await database[NAME].find_one({"_id": org_id}, {"provider": 1}, session=session))


async def set_provider(database: Database, org_id: OrgId, provider: IdentityProvider | None) -> None:
    """Set the provider, or take it away by None.

    If it was another one, or this service was another client of it, what it said about people is worth
    nothing any more: nobody has to use it, nobody is known by its ids, and all sessions that it began end.
    """
    stored = _PROVIDER.to_document(provider) if provider else None

    async def work(session: ClientSession) -> None:
        await organizations.note_member_change(database, session, org_id)
        changed = {"$set": {"provider": stored}}
        document = await database[NAME].find_one_and_update(
            {"_id": org_id}, changed, upsert=True, session=session
        )
        before = _provider_in(document)
        if before and not before.is_client_of(provider):
            await organizations.set_requires_single_sign_on(database, org_id, is_on=False, session=session)
            await identities.delete_identities_in(database, org_id, session)
            await sessions.delete_provider_sessions(database, org_id, session=session)

    await in_transaction(database, work)


async def admit_by(
    database: Database, session: ClientSession, org_id: OrgId, provider: IdentityProvider
) -> None:
    """Note in the caller's transaction that the provider lets somebody in.

    Of that and `set_provider` at one moment, the later begins again and sees the earlier. Raises
    SignInRefused if the service is no client of the provider any more.
    """
    await organizations.note_member_change(database, session, org_id)
    if not provider.is_client_of(await find_provider(database, org_id, session)):
        raise SignInRefused(Refusal.PROVIDER_CHANGED)


def _provider_in(document: Document | None) -> IdentityProvider | None:
    stored = (document or {}).get("provider")
    return _PROVIDER.from_document(stored) if stored else None

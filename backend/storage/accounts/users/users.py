"""The `users` collection: who may sign in to the dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import RECOVERY_CODES, SecondFactor, is_secret
from backend.domain.accounts.second_factor.passkeys import MOST_PASSKEYS, NAME_RULE, Passkey
from backend.domain.accounts.users import User
from backend.domain.errors import InvalidField, OperatorError
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.rules import Uuid
from backend.domain.ids import OrgId, UserId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import integer, list_of, nested, one_of, password_hash, sha256
from backend.storage.schema.document_shape import DocumentShape, with_default
from backend.storage.schema.ownership import ByMembership

NAME = "users"


def _as_member(document: Document, org_id: OrgId) -> Document:
    """What an organization sees of a user: nothing of others that the user acts for."""
    factor = document.get("second_factor") or {}
    return {
        "email": document["email"],
        "role": document.get("roles", {}).get(org_id, Role.OWNER.value),
        "password_hash": document.get("password_hash"),
        "second_factor": bool(factor),
        "authenticator": factor.get("secret"),
        "recovery_codes": factor.get("recovery_hashes"),
        "passkeys": [passkey["name"] for passkey in factor.get("passkeys", ())],
    }


COLLECTION = Collection(
    name=NAME,
    indexes=[
        # One account of one's own, and one for each organization whose identity provider has the address.
        IndexModel([("email", 1), ("managed_by", 1)], unique=True),
        IndexModel("org_ids"),
        IndexModel("managed_by"),
    ],
    owned_by=ByMembership(by_organization="roles"),
    personal=NotPersonal("the organization's own people, not visitors; `waylink user delete` deletes one"),
    retention=NoRetention("a user stays until deleted"),
    archived=Stage.SETUP,
    shard_key=NotSharded("few, and addresses are unique over all"),
    audited=Audited(
        kind="member",
        name="email",
        hidden=frozenset({"password_hash", "authenticator", "recovery_codes"}),
        created="added",
        deleted="removed",
        part=_as_member,
    ),
    withheld={"password_hash": None, "second_factor": None},
)


def _secret(name: str, value: object) -> object:
    if not isinstance(value, str) or not is_secret(value):
        raise InvalidField(name, "must be a secret in Base32, as an authenticator app has it")
    return value


def _roles(name: str, value: object) -> object:
    if not isinstance(value, dict):
        raise InvalidField(name, "must be roles by the ids of organizations")
    return {Uuid().parse(name, org_id): one_of(Role)(name, role) for org_id, role in value.items()}


def _load_roles(stored: Mapping[str, str]) -> dict[OrgId, Role]:
    return {OrgId(org_id): Role(role) for org_id, role in stored.items()}


_PASSKEY = DocumentShape(
    record=Passkey, rules={"name": NAME_RULE.parse}, optional=with_default(Passkey), id_field=None
)
_SECOND_FACTOR = DocumentShape(
    record=SecondFactor,
    rules={
        "secret": _secret,
        "recovery_hashes": list_of(sha256, RECOVERY_CODES),
        "passkeys": list_of(nested(_PASSKEY.fields), MOST_PASSKEYS),
    },
    optional=with_default(SecondFactor),
    id_field=None,
)
SHAPE = DocumentShape(
    record=User,
    rules={
        "email": EmailAddress().parse,
        "password_hash": password_hash,
        "org_ids": list_of(Uuid().parse, 1),
        "roles": _roles,
        "second_factor": nested(_SECOND_FACTOR.fields),
    },
    loads={"roles": _load_roles},
    optional=with_default(User),
    stored_at_times={"sign_ins": integer},
)


class EmailTaken(OperatorError):
    """A user with this e-mail address, and a sign-in of their own, exists already."""

    def __init__(self, email: str) -> None:
        super().__init__(f"There is a user {email} already.")


class UnknownUser(OperatorError):
    """No user has this e-mail address, and the kind of sign-in that is asked for."""

    def __init__(self, email: str) -> None:
        super().__init__(
            f"There is no user {email!r} who signs in so; `waylink user list` shows all, and which come "
            "through an organization's identity provider."
        )


async def insert_user(database: Database, user: User, session: ClientSession | None = None) -> None:
    """Store a new user. Raises EmailTaken if another user has the address."""
    try:
        await database[NAME].insert_one(SHAPE.to_document(user), session=session)
    except DuplicateKeyError:
        raise EmailTaken(user.email) from None


async def find_user(database: Database, user_id: UserId, session: ClientSession | None = None) -> User | None:
    """The user with this id; None if there is none."""
    return _from_found(await database[NAME].find_one({"_id": user_id}, session=session))


async def find_user_by_email(
    database: Database, email: str, session: ClientSession | None = None
) -> User | None:
    """The user with this e-mail address, which must be in its normal form, and with a sign-in of their own;
    None if there is none."""
    return await find_managed_user(database, None, email, session)


async def find_managed_user(
    database: Database, managed_by: OrgId | None, email: str, session: ClientSession | None = None
) -> User | None:
    """The user with this address whom the provider of this organization named; None if there is none."""
    account = {"email": email, "managed_by": managed_by}
    return _from_found(await database[NAME].find_one(account, session=session))


async def find_member_by_email(
    database: Database, org_id: OrgId, email: str, session: ClientSession | None = None
) -> User | None:
    """The member of the organization with this address, and rather one with a sign-in of their own."""
    members = {"email": email, "org_ids": org_id}
    found = await database[NAME].find(members, session=session).sort("managed_by", 1).limit(1).to_list(1)
    return _from_found(found[0] if found else None)


async def list_users(database: Database, org_id: OrgId, session: ClientSession | None = None) -> list[User]:
    """The users of an organization, sorted by e-mail address."""
    return await _list(database, {"org_ids": org_id}, session)


async def list_users_of_all(database: Database) -> list[User]:
    """The users of all organizations, sorted by e-mail address."""
    return await _list(database, {})


async def _list(database: Database, condition: Document, session: ClientSession | None = None) -> list[User]:
    found = database[NAME].find(condition, session=session).sort("email", 1)
    return [SHAPE.from_document(document) async for document in found]


async def renew_password_hash(database: Database, user: User, password_hash: str) -> None:
    """Store another hash of the password that the user had when read, unless it is another one by now.

    A new password is set by password_resets.replace_password.
    """
    unchanged = {"_id": user.id, "password_hash": user.password_hash}
    await database[NAME].update_one(unchanged, {"$set": {"password_hash": password_hash}})


async def set_roles(database: Database, user_id: UserId, roles: Mapping[OrgId, Role]) -> None:
    """Set the organizations that a user may act for, and the role in each.

    Open sessions follow from their next request on.
    """
    set_all = {"org_ids": list(roles), "roles": dict(roles)}
    await database[NAME].update_one({"_id": user_id}, {"$set": set_all})


async def set_role(database: Database, user_id: UserId, org_id: OrgId, role: Role) -> bool:
    """Give a user another role in one organization. Returns False if the user does not act for it."""
    member = {"_id": user_id, "org_ids": org_id}
    changed = await database[NAME].update_one(member, {"$set": {f"roles.{org_id}": role.value}})
    return bool(changed.matched_count)


def membership_change(org_id: OrgId, role: Role | None) -> Document:
    """The change by which a user becomes a member with this role, or with None is no member any more."""
    if role is None:
        return {"$pull": {"org_ids": org_id}, "$unset": {f"roles.{org_id}": ""}}
    return {"$addToSet": {"org_ids": org_id}, "$set": {f"roles.{org_id}": role.value}}


async def delete_user(database: Database, user_id: UserId, session: ClientSession | None = None) -> None:
    """Delete a user. Open sessions end at their next request."""
    await database[NAME].delete_one({"_id": user_id}, session=session)


def _from_found(document: dict[str, Any] | None) -> User | None:
    return SHAPE.from_document(document) if document else None

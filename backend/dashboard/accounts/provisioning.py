"""/provisioning: what the organization's identity provider tells by SCIM.

An owner opens it to connect the provider, and to see whether it still calls, and which role each of its
groups gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quart import Response, abort

from backend.dashboard.accounts.keys import state_of_key
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.key_input import KEY_FIELDS
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.provisioning.membership import role_by_groups
from backend.domain.accounts.provisioning.people import SCIM_PATH
from backend.domain.accounts.roles import Role
from backend.domain.errors import FieldError, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import KeyId
from backend.storage.accounts.api_keys import UnknownKey, list_api_keys, make_api_key, revoke_api_key
from backend.storage.accounts.directory.groups import list_groups
from backend.storage.accounts.directory.people import list_people
from backend.storage.accounts.provisioning.people_changes import forget_everybody
from backend.storage.accounts.single_sign_on.settings import find_group_roles
from backend.web.current import resources

_FIELDS = ("name", "expires_at")


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group in the list: its name, how many are in it, and the role that it gives them, if any."""

    name: str
    people: int
    role: Role | None


@dashboard.get("/provisioning")
@needs(Permission.KEYS_READ, Permission.MEMBERS_READ)
async def provisioning() -> Response:
    """How the provider connects, the tokens, and the groups."""
    return await _page()


@dashboard.post("/provisioning/tokens")
@needs(Permission.KEYS_WRITE, Permission.MEMBERS_WRITE)
@once
async def provisioning_make_token() -> Response:
    """Make a token, and show it once."""
    sent: dict[str, object] = {name: field(name) for name in _FIELDS if field(name)}
    errors = list[FieldError]()
    values: dict[str, Any] = parse_fields(KEY_FIELDS, sent, errors) | {"kind": KeyKind.SCIM}
    try:
        raise_all(errors)
        token, _ = await make_api_key(
            resources().database, org_id(), values, granted=permissions(), now=resources().clock()
        )
    except FieldError as error:
        return await _page(problems=error.rule_by_field)
    return await _page(token=token)


@dashboard.post("/provisioning/tokens/<key_id>/revoke")
@needs(Permission.KEYS_WRITE)
async def provisioning_revoke_token(key_id: KeyId) -> Response:
    """Revoke a token. Everybody who was told stays."""
    try:
        await revoke_api_key(resources().database, key_id, org_id(), resources().clock())
    except UnknownKey:
        abort(404)
    return redirect_with_notice("provisioning", "provisioning-token-revoked")


@dashboard.post("/provisioning/forget")
@needs(Permission.MEMBERS_WRITE)
async def provisioning_forget() -> Response:
    """Forget what the provider told: members stay, and are changed by hand from now on."""
    await forget_everybody(resources().database, org_id())
    return redirect_with_notice("provisioning", "provisioning-forgotten")


async def _page(*, token: str = "", problems: Mapping[str, str] | None = None) -> Response:
    database = resources().database
    keys = [key for key in await list_api_keys(database, org_id()) if key.kind is KeyKind.SCIM]
    keys.sort(key=lambda key: key.created_at, reverse=True)
    people = await list_people(database, org_id())
    group_roles = await find_group_roles(database, org_id())
    rows = [
        GroupRow(group.display_name, len(group.member_ids), role_by_groups(group_roles, [group.display_name]))
        for group in await list_groups(database, org_id())
    ]
    return await page(
        "accounts/provisioning.html",
        422 if problems else 200,
        token=token,
        problems=problems or {},
        values={name: field(name) for name in _FIELDS} if problems else {},
        address=f"{resources().settings.base_url}{SCIM_PATH}",
        keys=[(key, state_of_key(key)) for key in keys],
        rows=rows,
        otherwise=group_roles.otherwise,
        lets_in=bool(group_roles.mapping or group_roles.otherwise),
        told=len(people),
        waiting=sum(person.is_active and person.user_id is None for person in people),
        shut_out=sum(not person.is_active for person in people),
    )

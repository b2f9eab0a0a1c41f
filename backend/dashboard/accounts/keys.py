"""/keys: the organization's keys.

An owner opens it to let a server, a site or an app in, and to see which keys are still used before ending
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from quart import Response, abort

from backend.dashboard.accounts.key_limit import LIMIT_FIELDS, limits_in_words, read_limit
from backend.dashboard.frame.blueprint import dashboard, needs, org_id, permissions
from backend.dashboard.frame.form import field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.domain.accounts.api_keys import ApiKey, KeyKind
from backend.domain.accounts.key_input import (
    DEFAULT_OVERLAP_HOURS,
    KEY_FIELDS,
    KeyEnded,
    OverlapHours,
    ScopesNotGrantable,
)
from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import MEANINGS, Permission
from backend.domain.errors import FieldError, InvalidField, RequestError, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import KeyId
from backend.storage.accounts.api_keys import (
    UnknownKey,
    list_api_keys,
    make_api_key,
    revoke_api_key,
    rotate_api_key,
)
from backend.storage.accounts.domains import list_domains
from backend.web.current import resources

KINDS = {
    KeyKind.REST: ("REST API", "For your servers. Keep it secret."),
    KeyKind.WEB: ("Browser SDK", "Stands in the pages of your site: it is public."),
    KeyKind.MOBILE: ("Mobile SDK", "Goes into your app."),
}
# What lists call each kind. Tokens of identity providers are made on the page Provisioning.
_NAMES = {kind: name for kind, (name, _) in KINDS.items()} | {KeyKind.SCIM: "Provisioning"}
# Before the name of a scope, that of its checkbox.
_SCOPE = "scope:"
_OVERLAPS = [("0", "at once"), ("24", "after a day"), ("168", "after a week"), ("720", "after thirty days")]


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made, to be copied, and its kind."""

    text: str
    kind: KeyKind


@dashboard.get("/keys")
@needs(Permission.KEYS_READ)
async def keys() -> Response:
    """All keys, without their secrets, those in force first."""
    return await _page()


@dashboard.post("/keys")
@needs(Permission.KEYS_WRITE)
@once
async def keys_create() -> Response:
    """Create a key and show it once: only its hash is stored, unless it is public."""
    if field("kind") not in KINDS:
        abort(400)
    kind = KeyKind(field("kind"))
    try:
        values = _values(kind) | {"kind": kind}
        if kind is KeyKind.REST:
            values["limited_to"] = await read_limit()
        if kind is KeyKind.MOBILE:
            values["links"] = _grant()
        text, _ = await make_api_key(
            resources().database, org_id(), values, granted=permissions(), now=resources().clock()
        )
    except FieldError as error:
        problems = {wrong.field.removeprefix("links.").partition("[")[0]: wrong.rule for wrong in error.every}
        return await _page(of=kind, problems=problems)
    except ScopesNotGrantable as error:
        return await _page(problem=error)
    return await _page(NewKey(text, kind))


@dashboard.post("/keys/<key_id>/rotate")
@needs(Permission.KEYS_WRITE)
@once
async def keys_rotate(key_id: KeyId) -> Response:
    """Create a key that takes the place of this one, which ends after the time that the form says."""
    hours = field("overlap") or str(DEFAULT_OVERLAP_HOURS)
    try:
        overlap = timedelta(hours=OverlapHours().parse("overlap", int(hours) if hours.isdecimal() else hours))
        text, key = await rotate_api_key(
            resources().database, org_id(), key_id, overlap,
            granted=permissions(), now=resources().clock(),
        )  # fmt: skip
    except UnknownKey:
        abort(404)
    except InvalidField:
        abort(400)
    except (KeyEnded, ScopesNotGrantable) as error:
        return await _page(problem=error)
    return await _page(NewKey(text, key.kind))


@dashboard.post("/keys/<key_id>/revoke")
@needs(Permission.KEYS_WRITE)
async def keys_revoke(key_id: KeyId) -> Response:
    """Revoke a key of the organization."""
    try:
        await revoke_api_key(resources().database, key_id, org_id(), resources().clock())
    except UnknownKey:
        abort(404)
    return redirect_with_notice("keys", "key-revoked")


def _values(kind: KeyKind) -> dict[str, Any]:
    """Name, scopes and end of the new key, as far as the form says them. Raises FieldError."""
    sent: dict[str, object] = {
        name: field(_name(name, kind)) for name in ("name", "expires_at") if field(_name(name, kind))
    }
    if scopes := _ticked():
        sent["scopes"] = scopes
    errors: list[FieldError] = []
    values = parse_fields(KEY_FIELDS, sent, errors)
    raise_all(errors)
    return values


def _ticked() -> list[str]:
    return [name.removeprefix(_SCOPE) for name in form() if name.startswith(_SCOPE)]


def _name(name: str, kind: KeyKind) -> str:
    """The name of a field in the form of this kind: the page has a form for each."""
    return f"{name}-{kind}"


def _grant() -> LinkGrant | None:
    """Which links the new key may make; None if the form names neither domain nor addresses.

    Raises InvalidField.
    """
    domain, addresses = field("domain"), field("destinations").split()
    if not domain and not addresses:
        return None
    return LinkGrant.of(domain, addresses)


async def _page(
    new_key: NewKey | None = None,
    *,
    of: KeyKind | None = None,
    problems: Mapping[str, str] | None = None,
    problem: RequestError | None = None,
) -> Response:
    """The list, and a form for each kind. `problems` are of what was typed into the form of the kind `of`."""
    typed = (
        "domain",
        "destinations",
        *LIMIT_FIELDS,
        *(_name(name, of) for name in ("name", "expires_at") if of),
    )
    now = resources().clock()
    api_keys = await list_api_keys(resources().database, org_id())
    names = await list_domains(resources().database, org_id())
    api_keys.sort(key=lambda key: (not key.is_valid(now), -key.created_at.timestamp()))
    return await page(
        "accounts/keys.html",
        422 if problems or problem else 200,
        keys=[(key, state_of_key(key)) for key in api_keys],
        kinds=KINDS,
        names=_NAMES,
        new_key=new_key,
        domains=[("", "None"), *((name, name) for name in names)] if names else [],
        values={name: field(name) for name in typed} if problems else {},
        scopes=MEANINGS,
        limits=await limits_in_words(api_keys),
        ticked=_ticked() if problems else [],
        of=of,
        problems=problems or {},
        problem=problem,
        overlaps=_OVERLAPS,
    )


def state_of_key(key: ApiKey) -> tuple[str, str, str]:
    """The kind of badge that shows a key's state, its words, and when that is or ends."""
    if key.revoked_at:
        return "bad", f"Revoked {key.revoked_at:%-d %b %Y}", ""
    if not key.expires_at:
        return "good", "In force", ""
    if not key.is_valid(resources().clock()):
        return "bad", f"Ended {key.expires_at:%-d %b %Y}", ""
    until = f"until {key.expires_at:%-d %b %Y, %H:%M} UTC"
    return ("warn", "Replaced", until) if key.replaced_by else ("good", "In force", until)

"""/keys: the organization's keys."""

from __future__ import annotations

from collections.abc import Mapping

from quart import Response, abort

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import Permission
from backend.domain.errors import InvalidField
from backend.domain.ids import KeyId
from backend.storage.accounts.api_keys import UnknownKey, create_api_key, list_api_keys, revoke_api_key
from backend.storage.accounts.domains import is_domain_of, list_domains
from backend.web.current import resources

KINDS = {
    KeyKind.REST: ("REST API", "For your servers. Keep it secret."),
    KeyKind.WEB: ("Browser SDK", "Stands in the pages of your site: it is public."),
    KeyKind.MOBILE: ("Mobile SDK", "Goes into your app."),
}


@dashboard.get("/keys")
@needs(Permission.KEYS_READ)
async def keys() -> Response:
    """All keys, without their secrets, active ones first."""
    return await _page()


@dashboard.post("/keys")
@needs(Permission.KEYS_WRITE)
async def keys_create() -> Response:
    """Create a key and show it once: only its hash is stored."""
    kind = field("kind")
    if kind not in set(KeyKind):
        abort(400)
    database = resources().database
    try:
        links = await _grant() if kind == KeyKind.MOBILE else None
    except InvalidField as error:
        return await _page(errors={error.field.partition("[")[0]: error.rule})
    text, _ = await create_api_key(database, org_id(), KeyKind(kind), resources().clock(), links=links)
    return await _page(text, KeyKind(kind))


@dashboard.post("/keys/<key_id>/revoke")
@needs(Permission.KEYS_WRITE)
async def keys_revoke(key_id: KeyId) -> Response:
    """Revoke a key of the organization."""
    try:
        await revoke_api_key(resources().database, key_id, org_id(), resources().clock())
    except UnknownKey:
        abort(404)
    return redirect_with_notice("keys", "key-revoked")


async def _grant() -> LinkGrant | None:
    """Which links the new key may make; None if the form names neither domain nor addresses.

    Raises InvalidField.
    """
    domain, addresses = field("domain"), field("destinations").split()
    if not domain and not addresses:
        return None
    grant = LinkGrant.of(domain, addresses)
    if not await is_domain_of(resources().database, grant.domain, org_id()):
        raise InvalidField("domain", "must be one of yours")
    return grant


async def _page(
    new_key: str = "", new_kind: KeyKind | None = None, *, errors: Mapping[str, str] | None = None
) -> Response:
    sent = {name: field(name) for name in ("domain", "destinations")} if errors else {}
    api_keys = await list_api_keys(resources().database, org_id())
    names = await list_domains(resources().database, org_id())
    api_keys.sort(key=lambda key: (key.revoked_at is not None, -key.created_at.timestamp()))
    return await page(
        "accounts/keys.html",
        422 if errors else 200,
        keys=api_keys,
        kinds=KINDS,
        new_key=new_key,
        new_kind=new_kind,
        domains=[("", "None"), *((name, name) for name in names)] if names else [],
        values=sent,
        errors=errors or {},
    )

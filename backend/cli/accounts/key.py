"""`waylink key`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.api_keys import NAME_RULE, ApiKey, KeyKind
from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import Permission, stored_permissions
from backend.domain.errors import InvalidField
from backend.domain.ids import KeyId, OrgId
from backend.storage.accounts import api_keys, domains, organizations
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now


def _name(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    try:
        return None if text is None else NAME_RULE.parse("name", text.strip())
    except InvalidField as error:
        raise click.BadParameter(f"the key's {error}") from None


@click.group()
def key() -> None:
    """API keys: REST (servers), mobile (apps) and web (browsers)."""


@key.command("create")
@org_option
@click.option(
    "--kind", type=click.Choice([kind.value for kind in KeyKind]), required=True, help="What the key is for."
)
@click.option(
    "--links-domain", metavar="DOMAIN", help="Lets an app with this key make links on this domain of yours."
)
@click.option(
    "--links-to",
    multiple=True,
    metavar="ADDRESS",
    help="Where these links may lead, such as shop.com/invite/*. Give it once for each address.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([permission.value for permission in Permission]),
    help="Limits a REST key to this. Give it once for each scope. Without any, the key may do all but what "
    "concerns keys and members.",
)
@click.option("--name", callback=_name, metavar="NAME", help="What the key is for, as lists show it.")
@stored
async def create_key(
    database: Database,
    org_id: OrgId,
    kind: str,
    name: str | None,
    scopes: tuple[str, ...],
    **grant: Any,
) -> CommandResult:
    """Create a key and print it. It is shown only once: only its hash is stored."""
    await organizations.get_organization(database, org_id)
    if scopes and kind != KeyKind.REST:
        raise click.UsageError("--scope is for keys of the kind rest.")
    links = await _grant(database, org_id, KeyKind(kind), grant["links_domain"], grant["links_to"])
    text, created = await api_keys.create_api_key(
        database,
        org_id,
        KeyKind(kind),
        utc_now(),
        name=name,
        links=links,
        scopes=stored_permissions(scopes or None),
    )
    return {
        "key": text,
        "id": created.id,
        "kind": kind,
        "name": created.name,
        "links": _links(created),
        "scopes": _scopes(created),
    }


async def _grant(
    database: Database, org_id: OrgId, kind: KeyKind, domain: str | None, addresses: Sequence[str]
) -> LinkGrant | None:
    if domain is None and not addresses:
        return None
    if kind is not KeyKind.MOBILE:
        raise click.UsageError("--links-domain and --links-to are for keys of the kind mobile.")
    try:
        grant = LinkGrant.of(domain or "", addresses)
    except InvalidField as error:
        option = "--links-domain" if error.field == "domain" else "--links-to"
        raise click.UsageError(f"{option} {error.rule}.") from None
    if not await domains.is_domain_of(database, grant.domain, org_id):
        raise click.UsageError(f"--links-domain {grant.domain} is no domain of the organization.")
    return grant


def _links(api_key: ApiKey) -> str | None:
    """The links that an app makes with the key, in words."""
    return f"{api_key.links.domain} to {', '.join(api_key.links.destinations)}" if api_key.links else None


def _scopes(api_key: ApiKey) -> str | None:
    """The scopes of the key with commas between them; None if it has none."""
    return None if api_key.scopes is None else ", ".join(api_key.scopes)


@key.command("list")
@org_option
@stored
async def list_keys(database: Database, org_id: OrgId) -> CommandResult:
    """List an organization's keys, without their secrets."""
    await organizations.get_organization(database, org_id)
    return {"keys": [_key_row(api_key) for api_key in await api_keys.list_api_keys(database, org_id)]}


@key.command("rename")
@click.argument("key_id")
@click.argument("name", callback=_name)
@stored
async def rename_key(database: Database, key_id: KeyId, name: str) -> CommandResult:
    """Call the key with the id KEY_ID NAME in lists. The key itself stays as it is."""
    renamed = await api_keys.rename_any_api_key(database, key_id, name)
    return {"id": renamed.id, "name": renamed.name}


@key.command("revoke")
@click.argument("key_id")
@yes_option
@stored
async def revoke_key(database: Database, key_id: KeyId, is_confirmed: bool) -> CommandResult:
    """Revoke the key with the id KEY_ID. Within seconds, no process accepts it any more."""
    api_key = await api_keys.get_api_key(database, key_id)
    confirm(f"Revoke the key {_described(api_key)} for good?", is_confirmed)
    revoked = await api_keys.revoke_any_api_key(database, key_id, utc_now())
    return {"id": revoked.id, "revoked": True}


def _described(api_key: ApiKey) -> str:
    return f"{api_key.hint} ({printable(api_key.name)})" if api_key.name else api_key.hint


def _key_row(api_key: ApiKey) -> dict[str, Any]:
    return {
        "id": api_key.id,
        "kind": api_key.kind.value,
        "name": api_key.name,
        "key": api_key.hint,
        "created": api_key.created_at.isoformat(timespec="seconds"),
        "last_used": api_key.last_used_at.isoformat(timespec="seconds") if api_key.last_used_at else None,
        "revoked": api_key.revoked_at.isoformat(timespec="seconds") if api_key.revoked_at else None,
        "links": _links(api_key),
        "scopes": _scopes(api_key),
    }

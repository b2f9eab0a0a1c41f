"""`waylink key`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.api_keys import NAME_RULE, ApiKey, KeyKind
from backend.domain.accounts.key_input import (
    DEFAULT_OVERLAP_HOURS,
    KEY_FIELDS,
    MOST_OVERLAP_HOURS,
    KeyEnded,
    check_limited,
)
from backend.domain.accounts.link_grants import LinkGrant
from backend.domain.accounts.permissions import EVERYTHING, Permission, stored_permissions
from backend.domain.accounts.reach.limited_to import LimitedTo, limit_in_words, reach_json
from backend.domain.accounts.reach.link_reach import KINDS, LinkReach
from backend.domain.errors import InvalidField
from backend.domain.ids import KeyId, OrgId, TagId
from backend.storage.accounts import api_keys, domains, organizations
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import find_reach, find_tag_names
from backend.system.clock import utc_now

_CommandT = TypeVar("_CommandT", bound=Callable[..., Any])
_OPTIONS = {kind: f"--limit-{kind.removesuffix('s')}" for kind in KINDS}
_HELP = {
    "tags": "Limits a REST key to links with this tag, or with another one that is named so.",
    "domains": "Limits it to links on this domain, or on another one that is named so.",
    "links": "Limits it to the link with this id, and others that are named so.",
}


def limit_options(command: _CommandT) -> _CommandT:
    """The command with an option for each kind of limit, each of which may be given several times."""
    for kind in reversed(KINDS):
        command = click.option(
            _OPTIONS[kind], f"limit_{kind}", multiple=True, metavar=kind[:-1].upper(), help=_HELP[kind]
        )(command)
    return command


async def read_limit(
    database: Database, org_id: OrgId, kind: KeyKind, scopes: Sequence[str], options: Mapping[str, Any]
) -> LinkReach | None:
    """The links to which the options limit the key; None without such options. Raises UsageError."""
    names = {of: list(options[f"limit_{of}"]) for of in KINDS if options[f"limit_{of}"]}
    if not names:
        return None
    try:
        check_limited(kind, stored_permissions(scopes or None))
        return await find_reach(database, org_id, LimitedTo().parse("limited_to", names))
    except InvalidField as error:
        raise click.UsageError(f"{_in_options(error)}.") from None


def _in_options(error: InvalidField) -> str:
    """The error with the option's name in the place of the field's."""
    field, _, of = error.field.partition(".")
    option = _OPTIONS.get(of.partition("[")[0])
    if option:
        return f"{option} {error.rule}"
    return f"--scope {error.rule}" if field == "scopes" else "A limit to links is for keys of the kind rest"


def _name(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    try:
        return None if text is None else NAME_RULE.parse("name", text.strip())
    except InvalidField as error:
        raise click.BadParameter(f"the key's {error}") from None


def _moment(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    try:
        at: datetime | None = None if text is None else KEY_FIELDS["expires_at"].parse("time", text)
    except InvalidField as error:
        raise click.BadParameter(f"the {error}") from None
    if at and at <= utc_now():
        raise click.BadParameter("the time must be in the future")
    return at


@click.group()
def key() -> None:
    """API keys: REST (servers), mobile (apps), web (browsers) and SCIM (identity providers)."""


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
    help="Where these links may lead, such as https://shop.com/invite/*. Give it once for each address.",
)
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([permission.value for permission in Permission]),
    help="Limits a REST key to this. Give it once for each scope. Without any, the key may do all but what "
    "concerns keys, members, archives and the audit log.",
)
@limit_options
@click.option("--expires", callback=_moment, metavar="TIME", help="When the key ends, such as 2027-03-31.")
@click.option("--name", callback=_name, metavar="NAME", help="What the key is for, as lists show it.")
@stored
async def create_key(
    database: Database,
    org_id: OrgId,
    kind: str,
    name: str | None,
    scopes: tuple[str, ...],
    **details: Any,
) -> CommandResult:
    """Create a key and print it. It is shown only once: only its hash is stored."""
    await organizations.get_organization(database, org_id)
    if scopes and kind != KeyKind.REST:
        raise click.UsageError("--scope is for keys of the kind rest.")
    links = await _grant(database, org_id, KeyKind(kind), details["links_domain"], details["links_to"])
    limited_to = await read_limit(database, org_id, KeyKind(kind), scopes, details)
    text, created = await api_keys.create_api_key(
        database,
        org_id,
        KeyKind(kind),
        utc_now(),
        name=name,
        links=links,
        scopes=stored_permissions(scopes or None),
        expires_at=details["expires"],
        limited_to=limited_to,
    )
    tag_names = await find_tag_names(database, org_id, [limited_to])
    return {
        "key": text,
        "id": created.id,
        "kind": kind,
        "name": created.name,
        "links": _links(created),
        "scopes": _scopes(created),
        "limited_to": _limit(created, tag_names),
        "expires": _shown(created.expires_at),
    }


async def _grant(
    database: Database, org_id: OrgId, kind: KeyKind, domain: str | None, addresses: Sequence[str]
) -> LinkGrant | None:
    if domain is None and not addresses:
        return None
    if kind is not KeyKind.MOBILE:
        raise click.UsageError("--links-domain and --links-to are for keys of the kind mobile.")
    try:
        grant = LinkGrant.of(domain or "", list(addresses))
    except InvalidField as error:
        option = "--links-domain" if error.field == "domain" else "--links-to"
        raise click.UsageError(f"{option} {error.rule}.") from None
    if not await domains.is_domain_of(database, grant.domain, org_id):
        raise click.UsageError(f"--links-domain {grant.domain} is no domain of the organization.")
    return grant


def _links(api_key: ApiKey) -> str | None:
    """The links that an app makes with the key, in words."""
    return f"{api_key.links.domain} to {', '.join(api_key.links.destinations)}" if api_key.links else None


def _limit(api_key: ApiKey, tag_names: Mapping[TagId, str]) -> str | None:
    """The links to which the key is limited, in words; None if it is not."""
    named = reach_json(api_key.limited_to, tag_names)
    return None if named is None else limit_in_words(named)


def _scopes(api_key: ApiKey) -> str | None:
    """The scopes of the key with commas between them; None if it has none."""
    return None if api_key.scopes is None else ", ".join(api_key.scopes)


@key.command("list")
@org_option
@stored
async def list_keys(database: Database, org_id: OrgId) -> CommandResult:
    """List an organization's keys, without their secrets."""
    await organizations.get_organization(database, org_id)
    keys = await api_keys.list_api_keys(database, org_id)
    tag_names = await find_tag_names(database, org_id, [api_key.limited_to for api_key in keys])
    return {"keys": [_key_row(api_key, tag_names) for api_key in keys]}


@key.command("rotate")
@click.argument("key_id")
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, MOST_OVERLAP_HOURS),
    default=DEFAULT_OVERLAP_HOURS,
    show_default=True,
    help="For how long both keys are valid.",
)
@stored
async def rotate_key(database: Database, key_id: KeyId, overlap_hours: int) -> CommandResult:
    """Print a new key that may do the same as the one with the id KEY_ID, which ends after the overlap.

    The new key is shown only once.
    """
    old, overlap = await api_keys.get_api_key(database, key_id), timedelta(hours=overlap_hours)
    try:
        text, made = await api_keys.rotate_api_key(
            database, old.org_id, key_id, overlap, granted=EVERYTHING, now=utc_now()
        )
    except KeyEnded as error:
        raise click.ClickException(f"{error}.") from None
    old = await api_keys.get_api_key(database, key_id)
    return {"key": text, "id": made.id, "replaces": old.id, "old_key_ends": _shown(old.expires_at)}


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


def _key_row(api_key: ApiKey, tag_names: Mapping[TagId, str]) -> dict[str, Any]:
    return {
        "id": api_key.id,
        "kind": api_key.kind.value,
        "name": api_key.name,
        "key": api_key.text or api_key.hint,
        "created": _shown(api_key.created_at),
        "last_used": _shown(api_key.last_used_at),
        "expires": _shown(api_key.expires_at),
        "revoked": _shown(api_key.revoked_at),
        "links": _links(api_key),
        "scopes": _scopes(api_key),
        "limited_to": _limit(api_key, tag_names),
    }


def _shown(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None

"""The command line, `waylink`."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import fields
from datetime import UTC, datetime, time
from functools import wraps
from typing import Any

import click

from backend.api_host import ApiHost
from backend.app import create_app
from backend.domain.api_keys import ApiKey, KeyKind, key_text, new_key
from backend.domain.host_names import InvalidHostName, normalize_host
from backend.domain.organizations import Organization
from backend.domain.origins import InvalidOrigin, parse_origin
from backend.server import NotStarted, Site, run_sites, run_workers
from backend.settings import InvalidSetting, Settings, load_settings, unknown_variables, variable_name
from backend.storage import api_keys, domains, organizations, origins
from backend.storage.database import MongoDBUnreachable, open_database
from backend.storage.embedded_mongodb import MongoDBNotFound
from backend.storage.mongo import Database, StorageError

Result = dict[str, Any]
_EXPECTED = (
    MongoDBNotFound,
    MongoDBUnreachable,
    organizations.UnknownOrganization,
    api_keys.UnknownKey,
    domains.DomainTaken,
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="waylink")
def main() -> None:
    """Waylink: dynamic links on a server of your own.

    Settings come from WAYLINK_* environment variables or a .env file; `waylink settings` lists them.
    """


def stored(command: Callable[..., Awaitable[Result]]) -> Callable[..., None]:
    """A command on the database: it returns what to print, as lines or, with --json, as one JSON object."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @wraps(command)
    def run(as_json: bool, **arguments: Any) -> None:
        result = asyncio.run(_with_database(_settings(), command, arguments))
        click.echo(json.dumps(result) if as_json else _as_lines(result))

    return run


async def _with_database(
    settings: Settings, command: Callable[..., Awaitable[Result]], arguments: dict[str, Any]
) -> Result:
    try:
        async with open_database(settings) as database:
            return await command(database, **arguments)
    except _EXPECTED as error:
        raise click.ClickException(str(error)) from None
    except StorageError as error:
        raise click.ClickException(
            f"MongoDB can't be used; check WAYLINK_MONGODB_URI. It said: {error}"
        ) from None


def _settings() -> Settings:
    try:
        return load_settings()
    except InvalidSetting as error:
        raise click.ClickException(str(error)) from None


def _as_lines(result: Result) -> str:
    rows = next((value for value in result.values() if isinstance(value, list)), None)
    if rows is not None:
        return "\n".join("  ".join(str(cell) for cell in _cells(row)) for row in rows) or "(none)"
    width = max(len(name) for name in result)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in result.items())


def _cells(row: Any) -> list[Any]:
    return list(row.values()) if isinstance(row, dict) else [row]


def _now() -> datetime:
    return datetime.now(UTC)


@main.command(name="settings")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show_settings(as_json: bool) -> None:
    """List the settings: variable, value in force, meaning."""
    settings = _settings()
    values = {variable_name(item): getattr(settings, item.name) for item in fields(settings)}
    if as_json:
        click.echo(json.dumps(values, default=str))
        return
    for item in fields(settings):
        name = variable_name(item)
        click.echo(f"{name}={values[name] if values[name] is not None else ''}\n    {item.metadata['help']}")


@main.command()
def serve() -> None:
    """Run the service until Ctrl-C or SIGTERM."""
    settings = _settings()
    for name in unknown_variables(os.environ):
        click.echo(f"Warning: {name} is not a setting; `waylink settings` lists them.", err=True)
    try:
        if settings.workers > 1:
            run_workers(settings)
        else:
            site = Site(create_app(settings), settings.host, settings.port, "WAYLINK_PORT")
            run_sites([site], on_ready=lambda: click.echo(f"Waylink answers at {settings.base_url}"))
    except NotStarted as error:
        raise click.ClickException(str(error)) from None


@main.group()
def organization() -> None:
    """Organizations: who owns links, keys, domains and origins."""


@organization.command("create")
@click.argument("name")
@stored
async def create_organization(database: Database, name: str) -> Result:
    """Create an organization called NAME and print its id."""
    if not name.strip():
        raise click.BadParameter("an organization needs a name", param_hint="NAME")
    created = Organization(str(uuid.uuid4()), name.strip(), _now())
    await organizations.insert_organization(database, created)
    return {"id": created.id, "name": created.name}


@organization.command("list")
@stored
async def list_organizations(database: Database) -> Result:
    """List the organizations."""
    found = await organizations.list_organizations(database)
    return {"organizations": [{"id": each.id, "name": each.name} for each in found]}


@main.group()
def key() -> None:
    """API keys: REST (servers), mobile (apps) and web (browsers)."""


@key.command("create")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in KeyKind]), required=True, help="What the key is for."
)
@stored
async def create_key(database: Database, org_id: str, kind: str) -> Result:
    """Create a key and print it. It is shown this once: only its hash is stored."""
    await organizations.get_organization(database, org_id)
    secret = secrets.token_urlsafe(24)
    created = new_key(KeyKind(kind), secret, key_id=str(uuid.uuid4()), org_id=org_id, now=_now())
    await api_keys.insert_api_key(database, created)
    return {"key": key_text(created.kind, secret), "id": created.id, "kind": kind}


@key.command("list")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def list_keys(database: Database, org_id: str) -> Result:
    """List an organization's keys, without their secrets."""
    await organizations.get_organization(database, org_id)
    return {"keys": [_key_row(each) for each in await api_keys.list_api_keys(database, org_id)]}


@key.command("revoke")
@click.argument("key_id")
@stored
async def revoke_key(database: Database, key_id: str) -> Result:
    """Revoke the key with the id KEY_ID; within seconds no process accepts it any more."""
    revoked = await api_keys.revoke_api_key(database, key_id, _now())
    return {"id": revoked.id, "revoked": True}


def _key_row(each: ApiKey) -> dict[str, Any]:
    return {
        "id": each.id,
        "kind": each.kind.value,
        "key": each.hint,
        "created": each.created_at.isoformat(timespec="seconds"),
        "revoked": each.revoked_at.isoformat(timespec="seconds") if each.revoked_at else None,
    }


@main.group()
def domain() -> None:
    """Link domains: the host names of short URLs."""


@domain.command("add")
@click.argument("domain_name", metavar="DOMAIN")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def add_domain(database: Database, domain_name: str, org_id: str) -> Result:
    """Let an organization make links on DOMAIN, such as go.shop.com."""
    try:
        name = normalize_host(domain_name)
    except InvalidHostName as error:
        raise click.BadParameter(f"{domain_name!r} {error}", param_hint="DOMAIN") from None
    if ApiHost(_settings().base_url).owns(name):
        raise click.BadParameter(f"{name} is the API's own host name (WAYLINK_BASE_URL)", param_hint="DOMAIN")
    await organizations.get_organization(database, org_id)
    await domains.insert_domain(database, name, org_id, _now())
    return {"domain": name, "org_id": org_id}


@domain.command("list")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def list_domains(database: Database, org_id: str) -> Result:
    """List an organization's link domains."""
    await organizations.get_organization(database, org_id)
    return {"domains": await domains.list_domains(database, org_id)}


@main.group()
def origin() -> None:
    """Allowed Web Origins: the sites that may use the browser SDK."""


@origin.command("add")
@click.argument("origin_text", metavar="ORIGIN")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def add_origin(database: Database, origin_text: str, org_id: str) -> Result:
    """Allow ORIGIN, such as https://shop.com or https://*.shop.com."""
    parsed = _parse_origin(origin_text)
    await organizations.get_organization(database, org_id)
    await origins.add_origin(database, parsed, org_id, _now())
    return {"origin": parsed, "org_id": org_id}


@origin.command("remove")
@click.argument("origin_text", metavar="ORIGIN")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def remove_origin(database: Database, origin_text: str, org_id: str) -> Result:
    """Stop allowing ORIGIN."""
    parsed = _parse_origin(origin_text)
    if not await origins.remove_origin(database, parsed, org_id):
        raise click.ClickException(f"{parsed} was not allowed; `waylink origin list --org ID` shows what is.")
    return {"origin": parsed, "removed": True}


@origin.command("list")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@stored
async def list_origins(database: Database, org_id: str) -> Result:
    """List an organization's allowed origins."""
    await organizations.get_organization(database, org_id)
    return {"origins": await origins.list_origins(database, org_id)}


def _parse_origin(text: str) -> str:
    try:
        return parse_origin(text)
    except InvalidOrigin as error:
        raise click.BadParameter(f"{text!r}: {error}", param_hint="ORIGIN") from None


@main.group()
def subscription() -> None:
    """The paid subscription, which install analytics need."""


@subscription.command("set")
@click.option("--org", "org_id", required=True, metavar="ID", help="Id of the organization.")
@click.option(
    "--until", required=True, metavar="DATE", help="Last day, as 2027-12-31 (UTC), or a date-time, or `none`."
)
@stored
async def set_subscription(database: Database, org_id: str, until: str) -> Result:
    """Let the subscription of an organization run to the end of a day."""
    end = _end_of_day(until)
    await organizations.set_subscription(database, org_id, end)
    return {"org_id": org_id, "until": end.isoformat() if end else None}


def _end_of_day(text: str) -> datetime | None:
    if text == "none":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a date such as 2027-12-31", param_hint="--until") from None
    if len(text) <= len("2027-12-31"):
        return datetime.combine(moment.date(), time.max.replace(microsecond=0), UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    sys.exit(main())

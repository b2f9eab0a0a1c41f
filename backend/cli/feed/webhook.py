"""`waylink webhook`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option, with_options
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import cell, table
from backend.domain.errors import FieldError, ItemUnknown, MissingField, TooManyItems, raise_all
from backend.domain.feed.events import EventType
from backend.domain.fields.rules import Instant, parse_fields
from backend.domain.ids import OrgId
from backend.domain.webhooks.endpoint import Endpoint, Form
from backend.domain.webhooks.endpoint_fields import endpoint_rules
from backend.domain.webhooks.endpoint_json import delivery_json, endpoint_json
from backend.environment import load_settings
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.chosen_tags import tag_names, with_tag_ids
from backend.storage.webhooks.deliveries import list_deliveries
from backend.system.clock import utc_now
from backend.web_client.receivers import Receivers
from backend.webhooks.sample import send_test

_TYPES = click.Choice([event_type.value for event_type in EventType])
# What is shown for a list in which nothing was chosen.
_EMPTY_LISTS = dict.fromkeys(("types", "link_ids", "tags"), "all")
id_argument = click.argument("webhook_text", metavar="ID")


@click.group()
def webhook() -> None:
    """Webhooks: addresses of an organization that are sent what happens."""


@contextmanager
def _webhook_errors(org_id: OrgId) -> Iterator[None]:
    """Turn the errors of webhooks in the block into errors of the command."""
    try:
        yield
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization has {error.most} webhooks, as many as it may have: delete one first."
        ) from None
    except FieldError as error:
        raise RefusedField(error.field, error.rule.removeprefix("field ")) from None
    except ItemUnknown:
        raise click.ClickException(
            "The organization has no such webhook; "
            f"`waylink webhook list --org {printable(org_id)}` lists its webhooks."
        ) from None


def _field_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for what a new webhook and a change of one may have."""
    options = [
        click.option("--url", metavar="URL", help="Where events are sent: a public https address."),
        click.option(
            "--type", "types", multiple=True, type=_TYPES, help="A type of events; may be repeated.",
        ),
        click.option(
            "--link", "link_ids", multiple=True, metavar="ID", help="Only this link; may be repeated."
        ),
        click.option(
            "--tag", "tags", multiple=True, metavar="NAME",
            help="Only links with this tag; may be repeated.",
        ),
        click.option(
            "--form", type=click.Choice([form.value for form in Form]),
            help="The events as JSON, or messages for a chat.  [default: json]",
        ),
        click.option("--batch-size", type=int, help="The most events of one request.  [default: 1]"),
        click.option("--enabled/--disabled", "is_enabled", default=None, help="Whether anything is sent."),
    ]  # fmt: skip
    return with_options(command, options)


async def _fields(database: Database, org_id: OrgId, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are given by options, parsed as over REST. Raises FieldError."""
    values = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value not in (None, ())
    }
    errors: list[FieldError] = []
    rules = endpoint_rules(allows_loopback=load_settings().allows_loopback_receivers)
    fields = parse_fields(rules, values, errors)
    raise_all(errors)
    return await with_tag_ids(database, org_id, fields)


def _listed(result: CommandResult) -> str:
    rows = [
        (
            endpoint["id"],
            endpoint["url"],
            endpoint["types"] or "all",
            endpoint["state"],
            endpoint["cursor_at"],
            endpoint["last_error"],
        )
        for endpoint in result["webhooks"]
    ]
    return table(("id", "url", "types", "state", "told_up_to", "last_error"), rows)


@webhook.command("list")
@org_option
@stored_and_shown(_listed)
async def list_webhooks(database: Database, org_id: OrgId) -> CommandResult:
    """List an organization's webhooks, with how they do and up to when they were told what happened."""
    await get_organization(database, org_id)
    stored_endpoints = await endpoints.list_endpoints(database, org_id)
    names = await tag_names(database, org_id, stored_endpoints)
    return {"webhooks": [endpoint_json(endpoint, names) for endpoint in stored_endpoints]}


def _one(result: CommandResult) -> str:
    """A webhook or a delivery for people: a line for each field."""
    whole = {name: value or _EMPTY_LISTS.get(name, value) for name, value in result.items()}
    width = max(map(len, whole))
    return "\n".join(f"{name:<{width}}  {cell(value)}" for name, value in whole.items())


@webhook.command("create")
@org_option
@_field_options
@stored_and_shown(_one)
async def create_webhook(database: Database, org_id: OrgId, **options: Any) -> CommandResult:
    """Create a webhook, which is sent what happens from now on. Its secret is shown only once."""
    await get_organization(database, org_id)
    with _webhook_errors(org_id):
        if options["url"] is None:
            raise MissingField("url")
        fields = await _fields(database, org_id, options)
        made = await endpoints.create_endpoint(database, org_id, fields, utc_now())
    return await _shown(database, made, shows_secret=True)


@webhook.command("change")
@id_argument
@org_option
@click.option("--all-types", is_flag=True, help="Events of all types, as without --type.")
@click.option("--all-links", is_flag=True, help="Events of all links, as without --link and --tag.")
@_field_options
@stored_and_shown(_one)
async def change_webhook(
    database: Database, webhook_text: str, org_id: OrgId, all_types: bool, all_links: bool, **options: Any
) -> CommandResult:
    """Change the fields of the webhook ID that are given. Lists replace what was chosen before."""
    with _webhook_errors(org_id):
        changes = await _fields(database, org_id, options)
        if all_types:
            changes = {"types": ()} | changes
        if all_links:
            changes = {"link_ids": (), "tag_ids": ()} | changes
        if not changes:
            raise click.UsageError("Nothing to change: give at least one field.")
        changed = await endpoints.change_endpoint(database, org_id, webhook_text, changes)
    return await _shown(database, changed)


@webhook.command("delete")
@id_argument
@org_option
@yes_option
@stored
async def delete_webhook(
    database: Database, webhook_text: str, org_id: OrgId, is_confirmed: bool
) -> CommandResult:
    """Delete the webhook ID. What waits for it is not sent."""
    with _webhook_errors(org_id):
        endpoint = await endpoints.get_endpoint(database, org_id, webhook_text)
        confirm(f"Delete the webhook {printable(endpoint.url)}? What waits is not sent.", is_confirmed)
        await endpoints.delete_endpoint(database, org_id, webhook_text)
    return {"id": endpoint.id, "deleted": True}


@webhook.command("test")
@id_argument
@org_option
@stored_and_shown(_one)
async def test(database: Database, webhook_text: str, org_id: OrgId) -> CommandResult:
    """Send a test to the webhook ID, and print what was answered."""
    receivers = Receivers(allows_loopback=load_settings().allows_loopback_receivers)
    try:
        with _webhook_errors(org_id):
            return delivery_json(await send_test(database, receivers, org_id, webhook_text, utc_now()))
    finally:
        await receivers.close()


@webhook.command("replay")
@id_argument
@org_option
@click.option(
    "--from", "since", required=True, metavar="TIME", help="As 2026-03-01T12:00:00Z, or 2026-03-01 (UTC)."
)
@stored_and_shown(_one)
async def replay(database: Database, webhook_text: str, org_id: OrgId, since: str) -> CommandResult:
    """Send to the webhook ID again what was stored since a time, in order and with the same ids."""
    with _webhook_errors(org_id):
        moment = Instant().parse("since", since)
        if moment > utc_now():
            raise RefusedField("since", "must not lie in the future")
        return await _shown(database, await endpoints.replay(database, org_id, webhook_text, moment))


@webhook.command("go-on")
@id_argument
@org_option
@stored_and_shown(_one)
async def go_on(database: Database, webhook_text: str, org_id: OrgId) -> CommandResult:
    """Wake the webhook ID, or try at once: it is sent all that waited, in order."""
    with _webhook_errors(org_id):
        return await _shown(database, await endpoints.go_on(database, org_id, webhook_text))


@webhook.command("rotate-secret")
@id_argument
@org_option
@stored_and_shown(_one)
async def rotate_secret(database: Database, webhook_text: str, org_id: OrgId) -> CommandResult:
    """Make a new secret for the webhook ID. It is shown only once; the one before signs for another day."""
    with _webhook_errors(org_id):
        changed = await endpoints.rotate_secret(database, org_id, webhook_text, utc_now())
    return await _shown(database, changed, shows_secret=True)


def _attempts(result: CommandResult) -> str:
    names = ("at", "status", "events", "is_test", "attempt", "milliseconds", "error")
    return table(names, [[delivery[name] for name in names] for delivery in result["deliveries"]])


@webhook.command("deliveries")
@id_argument
@org_option
@stored_and_shown(_attempts)
async def list_last_deliveries(database: Database, webhook_text: str, org_id: OrgId) -> CommandResult:
    """List the last deliveries to the webhook ID, the newest first."""
    with _webhook_errors(org_id):
        endpoint = await endpoints.get_endpoint(database, org_id, webhook_text)
    return {
        "deliveries": [
            delivery_json(delivery) for delivery in await list_deliveries(database, org_id, endpoint.id)
        ]
    }


async def _shown(database: Database, endpoint: Endpoint, *, shows_secret: bool = False) -> CommandResult:
    names = await tag_names(database, endpoint.org_id, [endpoint])
    return endpoint_json(endpoint, names, shows_secret=shows_secret)

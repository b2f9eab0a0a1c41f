"""`waylink mail`."""

from __future__ import annotations

import asyncio
import json

import click

from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.options import json_option, org_option
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.errors import FieldError, ItemUnknown, TooManyItems, raise_all
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import (
    RECIPIENT_FIELDS,
    RECIPIENT_SETTINGS,
    Frequency,
    recipient_json,
)
from backend.environment import load_settings
from backend.mail.recipients import ask_to_confirm, last_mails, remove
from backend.mail.server import mail_server_of
from backend.mail.trial import send_test_mail
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.reports import recipients
from backend.system.clock import utc_now

_COLUMNS = ("id", "address", "frequency", "report_id", "state")
NO_SERVER = (
    "No mail server is configured: set WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER (docs/settings.md says what "
    "else there is)."
)


def _listed(result: CommandResult) -> str:
    rows = [(*(recipient[name] for name in _COLUMNS), _last(recipient)) for recipient in result["recipients"]]
    return table(("id", "address", "frequency", "report", "state", "last_mail"), rows)


def _last(recipient: CommandResult) -> str | None:
    last = recipient["last_mail"]
    return f"{last['state']} {last['at']}" if last else None


@click.group()
def mail() -> None:
    """Mails that the service sends."""


@mail.command("list")
@org_option
@stored_and_shown(_listed)
async def list_mails(database: Database, org_id: OrgId) -> CommandResult:
    """List who gets the figures of which report, and what became of the last mail."""
    await get_organization(database, org_id)
    found = await recipients.list_recipients(database, org_id)
    last = await last_mails(database, org_id, found)
    return {"recipients": [recipient_json(recipient, last.get(recipient.id)) for recipient in found]}


@mail.command("add")
@click.argument("address")
@org_option
@click.option("--report", "report_id", required=True, metavar="ID", help="The report whose figures are sent.")
@click.option(
    "--frequency",
    type=click.Choice([frequency.value for frequency in Frequency]),
    default="weekly",
    show_default=True,
)
@click.option(
    "--language",
    type=click.Choice([language.value for language in Language]),
    default="en",
    show_default=True,
)
@click.option("--timezone", default="UTC", show_default=True, help="IANA time zone, as Europe/Berlin.")
@stored
async def add(database: Database, org_id: OrgId, **options: str) -> CommandResult:
    """Ask ADDRESS by mail whether they want the figures of a report."""
    settings = load_settings()
    if not settings.sends_mail:
        raise click.ClickException(NO_SERVER)
    errors: list[FieldError] = []
    fields = parse_fields(RECIPIENT_FIELDS, options, errors)
    try:
        raise_all(errors)
        asked = await ask_to_confirm(database, settings.base_url, org_id, fields, utc_now())
    except TooManyItems as error:
        raise click.ClickException(f"The organization has {error.most} recipients: remove one.") from None
    except FieldError as error:
        raise RefusedField(error.field, error.rule.removeprefix("field ")) from None
    except ItemUnknown:
        raise click.ClickException("The organization has no such report.") from None
    return recipient_json(asked, None)


@mail.command("change")
@click.argument("recipient_text", metavar="ID")
@org_option
@click.option("--frequency", type=click.Choice([frequency.value for frequency in Frequency]))
@click.option("--language", type=click.Choice([language.value for language in Language]))
@click.option("--timezone", help="IANA time zone, as Europe/Berlin.")
@stored
async def change(
    database: Database, recipient_text: str, org_id: OrgId, **options: str | None
) -> CommandResult:
    """Change how often the recipient ID gets mails, in which language or time zone. Nobody is asked again."""
    errors: list[FieldError] = []
    given = {name: value for name, value in options.items() if value is not None}
    fields = parse_fields(RECIPIENT_SETTINGS, given, errors)
    try:
        raise_all(errors)
        changed = await recipients.change_recipient(database, org_id, recipient_text, fields, utc_now())
    except FieldError as error:
        raise RefusedField(error.field, error.rule) from None
    except ItemUnknown:
        raise click.ClickException("The organization has no such recipient.") from None
    return recipient_json(changed, None)


@mail.command("remove")
@click.argument("recipient_text", metavar="ID")
@org_option
@stored
async def remove_recipient(database: Database, recipient_text: str, org_id: OrgId) -> CommandResult:
    """Send nothing more to the recipient ID."""
    try:
        await remove(database, org_id, recipient_text)
    except ItemUnknown:
        raise click.ClickException("The organization has no such recipient.") from None
    return {"id": recipient_text, "removed": True}


@mail.command("test")
@click.argument("address")
@json_option
def test(address: str, as_json: bool) -> None:
    """Send a test mail to ADDRESS, and print how each step went. Exits with code 1 if one failed."""
    try:
        checked = EmailAddress().parse("address", address)
    except FieldError as error:
        raise click.BadParameter(f"{address!r} {error.rule}", param_hint="ADDRESS") from None
    server = mail_server_of(load_settings())
    if server is None:
        raise click.ClickException(NO_SERVER)
    results = asyncio.run(send_test_mail(server, checked, utc_now()))
    is_sent = all(result.result == "ok" for result in results)
    if as_json:
        steps = {result.step.value: result.result for result in results}
        click.echo(json.dumps({"host": server.host, "port": server.port, "sent": is_sent, "steps": steps}))
    else:
        click.echo(printable(f"{server.sender} through {server.host}, port {server.port}"))
        for result in results:
            click.echo(printable(f"{result.step.value.replace('_', ' '):<10} {result.result}"))
    if not is_sent:
        raise SystemExit(1)

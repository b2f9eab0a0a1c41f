"""`waylink privacy`."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import click

from backend.cli.command import CommandResult, stored
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.organizations import FEWEST_AUDIT_DAYS, FEWEST_CLICK_DAYS, MOST_DAYS, parse_days
from backend.domain.fields.install_ids import install_id_of
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.visitors.call_texts import as_stored
from backend.domain.visitors.persons import Subject
from backend.storage.accounts import organizations
from backend.storage.clicks.retention import single_clicks_since
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import personal_collections
from backend.storage.lifecycle.privacy.plain import plain
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.lifecycle.privacy.reach import MOST_SHOWN, find_reached
from backend.storage.lifecycle.retention import set_retention
from backend.system.clock import utc_now

_SUBJECTS = ("customer", "device", "install", "email", "email_sha256")


@click.group()
def privacy() -> None:
    """Personal data: export it, erase it, and limit how long it is kept."""


def subject_options(command: Any) -> Any:
    """Add the options that say whose data is meant. Exactly one of them must be given."""
    for option, text in (
        ("--email-sha256", "SHA-256 of the e-mail address, trimmed and in lower case."),
        ("--email", "E-mail address; it is hashed here."),
        ("--install", "Installation of an app, by the id that the app made."),
        ("--device", "Device ID (the cookie cl_device_id)."),
        ("--customer", "Customer id, as the site gave it to identify."),
    ):
        command = click.option(option, metavar="TEXT", help=text)(command)
    return command


@privacy.command("export")
@org_option
@subject_options
@stored
async def export(database: Database, org_id: OrgId, **options: str | None) -> CommandResult:
    """Print everything that is stored about a person.

    With --json, as one object with a list for each collection.
    """
    subject = _subject(options)
    await organizations.get_organization(database, org_id)
    documents: CommandResult = {collection.name: [] for collection, _ in personal_collections()}
    async for name, document in export_subject(database, org_id, subject):
        documents[name].append(plain(document))
    return documents


@privacy.command("erase")
@org_option
@subject_options
@yes_option
@stored
async def erase(
    database: Database, org_id: OrgId, is_confirmed: bool, **options: str | None
) -> CommandResult:
    """Delete everything that is stored about a person, and print how many documents that was.

    Before it asks, it lists the customers whom it will reach, and who said so: a server, a browser or an
    order.
    """
    subject = _subject(options)
    await organizations.get_organization(database, org_id)
    lines = [] if is_confirmed else await _reach(database, org_id, subject)
    question = "\n".join([*lines, "Delete everything that is stored about this person?"])
    confirm(question, is_confirmed)
    return await erase_subject(database, org_id, subject)


async def _reach(database: Database, org_id: OrgId, subject: Subject) -> list[str]:
    """Lines that say whom the erasure will reach."""
    reached = await find_reached(database, org_id, subject)
    lines = [printable(customer.in_words) for customer in reached[:MOST_SHOWN]]
    if len(reached) > MOST_SHOWN:
        lines.append("And more customers than these.")
    return lines or ["No customer is known by that."]


def _days_option(kept: str, fewest: int = 1) -> Callable[[Any], Any]:
    def days(_: click.Context, __: click.Parameter, text: str) -> int | None:
        try:
            return None if text == "none" else parse_days(text, fewest)
        except ValueError:
            allowed = f"{text!r} is not a number from {fewest} to {MOST_DAYS}, or none"
            raise click.BadParameter(allowed) from None

    meaning = f"Days to keep {kept}, at least {fewest}, or `none`: no limit."
    return click.option("--days", required=True, metavar="N", callback=days, help=meaning)


@privacy.command("retention")
@org_option
@_days_option("visitors' data")
@yes_option
@stored
async def retention(database: Database, org_id: OrgId, days: int | None, is_confirmed: bool) -> CommandResult:
    """Set how long data about an organization's visitors is kept, also what is stored already."""
    owner = await organizations.get_organization(database, org_id)
    if _is_shorter(days, owner.retention_days):
        confirm(f"Delete data about visitors that is older than {days} days?", is_confirmed)
    return {"org_id": org_id, "retention_days": days} | await set_retention(database, org_id, days)


@privacy.command("click-retention")
@org_option
@_days_option("single clicks", FEWEST_CLICK_DAYS)
@yes_option
@stored
async def click_retention(
    database: Database, org_id: OrgId, days: int | None, is_confirmed: bool
) -> CommandResult:
    """Set how long an organization's single clicks are kept, also those that are stored.

    Days of older clicks are added up within about an hour: how many there were of each kind stays.
    """
    owner = await organizations.get_organization(database, org_id)
    if _is_shorter(days, owner.click_days):
        confirm(f"Delete single clicks that are older than {days} days?", is_confirmed)
    await organizations.set_click_days(database, org_id, days)
    since = single_clicks_since(days, utc_now())
    return {
        "org_id": org_id,
        "click_days": days,
        "single_clicks_since": since.isoformat(timespec="seconds") if since else None,
    }


@privacy.command("audit-retention")
@org_option
@_days_option("entries of the audit log", FEWEST_AUDIT_DAYS)
@yes_option
@stored
async def audit_retention(
    database: Database, org_id: OrgId, days: int | None, is_confirmed: bool
) -> CommandResult:
    """Set how long entries of an organization's audit log are kept, also those that are stored."""
    owner = await organizations.get_organization(database, org_id)
    if _is_shorter(days, owner.audit_days):
        confirm(f"Delete entries of the audit log that are older than {days} days?", is_confirmed)
    await organizations.set_audit_days(database, org_id, days)
    return {"org_id": org_id, "audit_days": days}


@privacy.command("withdrawal")
@org_option
@click.option(
    "--erase", type=click.Choice(["on", "off"]), required=True,
    help="Whether what is stored of a device is erased when its browser asks for it.",
)  # fmt: skip
@stored
async def withdrawal(database: Database, org_id: OrgId, erase: str) -> CommandResult:
    """Say whether a browser whose visitor withdraws consent may have its device's data erased.

    It asks by a batch with `erase: true` (docs/ingest.md). The answer follows this setting within seconds.
    """
    await organizations.set_erases_on_withdrawal(database, org_id, erase == "on")
    return {"org_id": org_id, "erase": erase}


def _is_shorter(days: int | None, than: int | None) -> bool:
    return days is not None and (than is None or days < than)


def _subject(options: dict[str, str | None]) -> Subject:
    named = [name for name in _SUBJECTS if options[name]]
    if len(named) != 1:
        raise click.UsageError("Name one of --customer, --device, --install, --email and --email-sha256.")
    email, device = options["email"], options["device"]
    return Subject(
        customer_id=CustomerId(as_stored(options["customer"])) if options["customer"] else None,
        device_id=_device_id(device) if device else None,
        install_id=install_id_of(options["install"]) if options["install"] else None,
        email_sha256=_hash(email) if email else _lower(options["email_sha256"]),
    )


def _hash(email: str) -> str:
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()


def _lower(text: str | None) -> str | None:
    return text.lower() if text else None


def _device_id(text: str) -> DeviceId:
    try:
        return DeviceId(str(uuid.UUID(text)))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a UUID", param_hint="--device") from None

"""`waylink report share`, `list` and `revoke`: views that anyone may open who has their URL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from backend.cli.analytics.funnel import saved_funnel_body
from backend.cli.analytics.query import SubscriptionNeeded
from backend.cli.analytics.query_options import GivenQuery, query_options
from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.confirm import confirm, yes_option
from backend.cli.options import org_option
from backend.cli.password_prompt import read_password, stdin_option
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.errors import FieldError, InvalidField, ItemUnknown, TooManyItems, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.domain.reports.input import REPORT_FIELDS, check_report
from backend.domain.reports.json_form import report_json
from backend.domain.reports.saved_query import MOST_ROWS
from backend.domain.reports.singles import ClicksOf, SalesOf
from backend.domain.reports.views import ReportView, ViewKind
from backend.environment import load_settings
from backend.mail.recipients import delete_report_and_mails
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.reports import reports
from backend.system.clock import utc_now

# The options for fields of the report, and those for its password.
_FIELDS = ("name", "shows_revenue", "shows_notes", "expires_at", "embed_origins")
_PASSWORD = ("password", "password_stdin")
# The options for fields that only queries of some kinds have.
_OF_KINDS = ("weeks", "added_up", "of")
_DEFAULTED = ("measures", "group_by")
_LINES = ("id", "name", "url", "opened_at", "expires_at")


def _one(result: CommandResult) -> str:
    return str(result["url"])


@click.command("share")
@org_option
@click.option("--name", required=True, help="The heading of the page.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in ViewKind if kind is not ViewKind.FUNNEL]),
    default=ViewKind.TABLE.value,
    help="A table; an overview: figures, a chart, and a table for each field of --group-by; customers over "
    "time (cohorts); single clicks or sales; a list of links, with filters such as tag=print; or Live.  "
    "[default: table]",
)
@click.option("--funnel", metavar="NAME", help="Share a saved funnel instead, by its name or id.")
@query_options
@click.option(
    "--limit",
    type=int,
    help=f"Show at most so many rows.  [default: {MOST_ROWS}, in overviews 8, of single rows 100]",
)
@click.option("--weeks", type=int, help="Of cohorts: weeks after the first touch.  [default: 12]")
@click.option("--added-up", is_flag=True, help="Of cohorts: what all weeks until each one come to.")
@click.option(
    "--of",
    type=click.Choice([ClicksOf.NOT_COUNTED.value, SalesOf.LEADS.value, SalesOf.EVENTS.value]),
    help="Of single rows: these, and not clicks or sales.",
)
@click.option("--shows-revenue", is_flag=True, help="Show measures of money too.")
@click.option("--shows-notes", is_flag=True, help="Show the organization's notes in the chart too.")
@click.option("--expires-at", metavar="TIME", help="Its end, as 2027-01-31T12:00Z.  [default: none]")
@click.option(
    "--embed-origin",
    "embed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="A site that may show it in a frame; may be repeated.",
)
@click.option("--password", is_flag=True, help="Ask for its readers' password.")
@stdin_option
@stored_and_shown(_one)
async def share_report(
    database: Database, org_id: OrgId, limit: int | None, kind: str, funnel: str | None, **options: Any
) -> CommandResult:
    """Share a view, and print its URL, by which anyone may open it, without an account.

    The options of `waylink report analytics` say what it shows. With --period it moves with the time.
    """
    own = {name: options.pop(name) for name in (*_FIELDS, *_PASSWORD)}
    of_kinds = {name: value for name in _OF_KINDS if (value := options.pop(name))}
    given = GivenQuery.of(options, limit)
    given.body.update(of_kinds)
    body = given.body if kind == ViewKind.TABLE else _without_defaults(given.body)
    if kind == ViewKind.LINKS:
        body |= {"filters": _of_links(body["filters"])}
    if funnel:
        kind, body = ViewKind.FUNNEL.value, await _funnel(database, org_id, funnel, given.body)
    values = {name: own[name] for name in _FIELDS} | {"embed_origins": list(own["embed_origins"])}
    try:
        fields = _parsed(values | {"kind": kind, "query": body})
        await _check(database, org_id, check_report(fields, utc_now()))
        if any(own[name] for name in _PASSWORD):
            fields |= await _hashed(read_password(own["password_stdin"]))
        made = await reports.create_report(database, org_id, fields, utc_now())
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization has {error.most} reports, as many as it may have: revoke one first."
        ) from None
    except InvalidField as error:
        if error.field.startswith("query"):
            with given.naming_options():
                raise
        raise RefusedField(error.field, error.rule) from None
    return report_json(made, load_settings().base_url)


def _without_defaults(body: dict[str, Any]) -> dict[str, Any]:
    """The query without `measures` and `group_by` where no option gave them."""
    source = click.get_current_context().get_parameter_source
    return {
        name: value
        for name, value in body.items()
        if name not in _DEFAULTED or source(name) is not ParameterSource.DEFAULT
    }


def _of_links(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The filters of a list of links, each of which has one value."""
    return {
        name: values[0] if isinstance(values, list) and len(values) == 1 else values
        for name, values in filters.items()
    }


async def _funnel(database: Database, org_id: OrgId, named: str, body: dict[str, Any]) -> dict[str, Any]:
    """The fields of the saved funnel, with what options give. Raises NoSuchFunnel."""
    given = {name: value for name, value in _without_defaults(body).items() if value != {}}
    return await saved_funnel_body(database, org_id, named) | given


async def _check(database: Database, org_id: OrgId, view: ReportView | None) -> None:
    """Raise SubscriptionNeeded where the organization may not ask this."""
    organization = await get_organization(database, org_id)
    if view and view.needs_subscription and not organization.has_subscription(utc_now()):
        raise SubscriptionNeeded(org_id)


def _listed(result: CommandResult) -> str:
    return table(_LINES, [[report[name] for name in _LINES] for report in result["reports"]])


@click.command("list")
@org_option
@stored_and_shown(_listed)
async def list_shared_reports(database: Database, org_id: OrgId) -> CommandResult:
    """List the views that an organization shares, with their URLs."""
    await get_organization(database, org_id)
    base_url = load_settings().base_url
    found = await reports.list_reports(database, org_id)
    return {"reports": [report_json(report, base_url) for report in found]}


@click.command("revoke")
@click.argument("report_text", metavar="ID")
@org_option
@yes_option
@stored
async def revoke_report(
    database: Database, report_text: str, org_id: OrgId, is_confirmed: bool
) -> CommandResult:
    """Revoke the report ID: its URL leads nowhere from now on."""
    try:
        report = await reports.get_report(database, org_id, report_text)
        confirm(f"Revoke the report {printable(report.name)}? Its URL can't be made again.", is_confirmed)
        await delete_report_and_mails(database, org_id, report_text)
    except ItemUnknown:
        raise click.ClickException(
            "The organization has no such report; "
            f"`waylink report list --org {printable(org_id)}` lists its reports."
        ) from None
    return {"id": report.id, "revoked": True}


def _parsed(values: dict[str, object]) -> dict[str, Any]:
    """The fields, parsed as over REST. Raises InvalidField."""
    errors: list[FieldError] = []
    fields = parse_fields(REPORT_FIELDS, values, errors)
    raise_all(errors)
    return fields


async def _hashed(password: str) -> dict[str, Any]:
    """The hash of the password, as a field. Raises InvalidField."""
    from backend.storage.accounts.users.passwords import with_password_hash  # noqa: PLC0415 - few commands need a hash

    return dict(await with_password_hash(_parsed({"password": password}), "the command"))

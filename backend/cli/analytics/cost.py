"""`waylink cost`: what campaigns cost, one by one or from the file of an advertising platform."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from backend.cli.analytics.client import analytics_client
from backend.cli.command import CommandResult, stored, stored_and_shown
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.cli.refused_field import RefusedField
from backend.cli.table import table
from backend.domain.costs.cost import MOST_AT_ONCE, Cost
from backend.domain.costs.input import Day
from backend.domain.costs.json_form import cost_json
from backend.domain.errors import FieldError, ItemUnknown, TooManyItems
from backend.domain.ids import OrgId
from backend.imports.cost_sheet import CostRow, CostSheet, read_cost, read_costs, rule_words
from backend.imports.csv_file import UnreadableCsv
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.told_names import say_unknown
from backend.storage.costs import costs
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

_FIELDS = ("campaign", "day", "amount", "currency")
_COLUMNS, _PREVIEWED = ("id", *_FIELDS), ("row", *_FIELDS)
# Of a file that is wrong throughout, the first ones say enough.
_MOST_REFUSED = 20


@click.group()
def cost() -> None:
    """Costs of campaigns, by which reports say what came of the money."""


@contextmanager
def _cost_errors(org_id: OrgId) -> Iterator[None]:
    """Turn the errors of costs in the block into errors of the command."""
    try:
        yield
    except TooManyItems as error:
        raise click.ClickException(
            f"The organization would have more than the {error.most:,} costs that are possible: delete some "
            "first. Nothing was stored."
        ) from None
    except FieldError as error:
        raise RefusedField(error.field, rule_words(error)) from None
    except ItemUnknown:
        raise click.ClickException(
            f"The organization has no such cost; `waylink cost list --org {printable(org_id)}` lists what it "
            "has."
        ) from None


def _listed(result: CommandResult) -> str:
    shown = table(_COLUMNS, [[told[name] for name in _COLUMNS] for told in result["costs"]])
    more = result["next_cursor"]
    return f"{shown}\n\nThere are more: add --cursor {more}" if more else shown


@cost.command("list")
@org_option
@click.option("--from", "from", metavar="DAY", help="Only costs of this day or later ones, as 2026-03-01.")
@click.option("--to", metavar="DAY", help="Only costs of earlier days.")
@click.option("--campaign", help="Only costs of this campaign, written as links have it in utm_campaign.")
@click.option("--cursor", help="The next_cursor of the list before.")
@stored_and_shown(_listed)
async def list_costs(
    database: Database,
    org_id: OrgId,
    campaign: str | None,
    cursor: str | None,
    **days: str | None,
) -> CommandResult:
    """List what campaigns cost, the latest day first, up to 1,000 costs."""
    await get_organization(database, org_id)
    with _cost_errors(org_id):
        first, end = (
            None if (text := days[name]) is None else Day().parse(name, text) for name in ("from", "to")
        )
        chosen = costs.CostFilter(first, end, campaign)
        found = await costs.list_costs(database, org_id, chosen, limit=MOST_AT_ONCE + 1, after=cursor)
    page = found[:MOST_AT_ONCE]
    more = page[-1].told.id if len(found) > len(page) else None
    return {"costs": [cost_json(told) for told in page], "next_cursor": more}


@cost.command("add")
@org_option
@click.option("--campaign", required=True, help="Written as links have it in utm_campaign.")
@click.option("--day", required=True, metavar="DAY", help="A calendar day, as 2026-03-01.")
@click.option("--amount", required=True, metavar="NUMBER", help="What it cost on that day, as 120.50.")
@click.option("--currency", required=True, metavar="CODE", help="As EUR.")
@stored
async def add_cost(database: Database, org_id: OrgId, **written: str) -> CommandResult:
    """Tell what a campaign cost on a day. It replaces what was told of that campaign, day and currency."""
    await get_organization(database, org_id)
    with _cost_errors(org_id):
        told, now = read_cost(written), utc_now()
        await costs.tell_costs(database, org_id, [told], now)
    unknown = await _unknown(database, org_id, [told.campaign])
    return cost_json(Cost(org_id, told, now)) | {"warning": unknown.get(told.campaign)}


def _imported(result: CommandResult) -> str:
    """The result of an import as people read it."""
    counts = [
        [name.replace("_", " "), result[name]]
        for name in ("would_be_stored", "new", "replaced", "unchanged", "refused")
        if name in result
    ]
    parts = ["Dry run: nothing was stored."] if result["dry_run"] else []
    if rows := result.get("rows"):
        parts.append(table(_PREVIEWED, [[row[name] for name in _PREVIEWED] for row in rows]))
    parts.append(table(["costs", "rows"], counts))
    if result["refused_rows"]:
        refused = [[row["row"], "; ".join(row["problems"])] for row in result["refused_rows"]]
        parts.append(table(["refused row", "because"], refused))
    if more := result["refused"] - len(result["refused_rows"]):
        parts.append(f"And {more:,} other rows.")
    parts += [
        f"{printable(named)}: {printable(words)}" for named, words in result["unknown_campaigns"].items()
    ]
    return "\n\n".join(parts)


@cost.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@org_option
@click.option("--currency", default="EUR", show_default=True, metavar="CODE", help="Of rows that name none.")
@click.option("--dry-run", is_flag=True, help="Show how each row is read, store nothing.")
@stored_and_shown(_imported, refuses_rows=True)
async def import_costs(
    database: Database, file: Path, org_id: OrgId, currency: str, dry_run: bool
) -> CommandResult:
    """Tell the costs in FILE, a CSV or TSV file in UTF-8, of up to 1,000 rows.

    The first row names the columns: campaign, day, amount and currency, or as Google Ads, Meta, Microsoft,
    LinkedIn and TikTok call them. Rows with problems are refused, and say why. Exits with code 3 if some
    are, and with 1 if all are.
    """
    await get_organization(database, org_id)
    sheet = read_costs(_text_of(file), currency)
    refused = [row for row in sheet.rows if not row.cost]
    if not sheet.costs:
        raise click.ClickException(_no_row(refused))
    result: dict[str, Any] = {"dry_run": dry_run}
    if dry_run:
        result |= {"would_be_stored": len(sheet.costs), "rows": _previewed(sheet)}
    else:
        with _cost_errors(org_id):
            told = await costs.tell_costs(database, org_id, sheet.costs, utc_now())
        result |= {"new": told.new, "replaced": told.replaced, "unchanged": told.unchanged}
    result |= {"refused": len(refused), "refused_rows": [_problems(row) for row in refused[:_MOST_REFUSED]]}
    named = [cost.campaign for cost in sheet.costs]
    return result | {"unknown_campaigns": await _unknown(database, org_id, named)}


@cost.command("delete")
@click.argument("cost_id", metavar="ID")
@org_option
@stored
async def delete_cost(database: Database, cost_id: str, org_id: OrgId) -> CommandResult:
    """Delete the cost ID: then it is not known what that day cost, which is not 0."""
    with _cost_errors(org_id):
        await costs.delete_cost(database, org_id, cost_id.lower())
    return {"id": cost_id.lower(), "deleted": True}


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableCsv(f"{file} is not in UTF-8.") from None


def _previewed(sheet: CostSheet) -> list[dict[str, Any]]:
    """The rows without problems, as they are read."""
    found = []
    for row in sheet.rows:
        if told := row.cost:
            fields = (row.number, told.campaign, f"{told.day}", f"{told.amount}", told.currency)
            found.append(dict(zip(_PREVIEWED, fields, strict=True)))
    return found


def _problems(row: CostRow) -> dict[str, Any]:
    return {"row": row.number, "problems": list(row.problems)}


def _no_row(refused: Sequence[CostRow]) -> str:
    """Why nothing can be imported."""
    if not refused:
        return "There is no row in the file."
    first = f"row {refused[0].number}: {'; '.join(refused[0].problems)}"
    return printable(f"No row of the file can be read. The first problem is that of {first}.")


async def _unknown(database: Database, org_id: OrgId, named: Sequence[str]) -> dict[str, str]:
    """What is said of those campaigns that no link and no visit has. Without figures, nothing is."""
    async with analytics_client(database) as analytics:
        return await say_unknown(analytics, org_id, named)

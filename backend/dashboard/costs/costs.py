"""/costs: what campaigns cost, typed in or from a spreadsheet.

Who opens it: whoever has the invoice or the export of an advertising platform. They decide by the preview
whether the table was understood, and look at the return on the page Attribution then. Numbers of costs on
other pages lead here, and from here to the clicks that were paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

from quart import Response, request, url_for

from backend.dashboard.analytics.answers import Chip
from backend.dashboard.analytics.figures import amount, definitions_of
from backend.dashboard.analytics.time_zone import zone_of_browser
from backend.dashboard.analytics.view import LONGEST_FILTER, read_day
from backend.dashboard.frame.blueprint import accepts_forms_of, dashboard, needs, org_id
from backend.dashboard.frame.form import digest_of, field, form
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.measures import Measure
from backend.domain.costs.cost import LONGEST_CAMPAIGN, MOST_AT_ONCE, Cost
from backend.domain.costs.json_form import cost_json
from backend.domain.errors import FieldError
from backend.imports.cost_sheet import CostSheet, read_cost, read_costs, rule_words
from backend.imports.csv_file import UnreadableCsv
from backend.storage.analytics.told_names import say_unknown
from backend.storage.costs.costs import CostFilter, delete_cost, list_costs, sum_costs, tell_costs
from backend.web.current import resources

_FIRST, _LAST, _CAMPAIGN, _CURRENCY = "from", "to", "campaign", "currency"


@dataclass(frozen=True, slots=True)
class CostChoice:
    """The arguments of an address that leave some costs. The last day is included."""

    arguments: Mapping[str, str]

    @classmethod
    def of_request(cls) -> CostChoice:
        """The choice of the request. Days that are none are left out, as in all addresses of views."""
        given = {
            name: text
            for name in (_CAMPAIGN, _FIRST, _LAST, _CURRENCY)
            if (text := request.args.get(name, "").strip()[:LONGEST_FILTER])
        }
        problems: dict[str, str] = {}
        for name in (_FIRST, _LAST):
            if name in given and read_day(name, given[name], problems) is None:
                del given[name]
        return cls(given)

    @property
    def filter(self) -> CostFilter:
        """What is asked of the database."""
        return CostFilter(
            self._day(_FIRST),
            last + timedelta(days=1) if (last := self._day(_LAST)) else None,
            self.arguments.get(_CAMPAIGN),
            self.arguments.get(_CURRENCY),
        )

    @property
    def chips(self) -> list[Chip]:
        """What leaves costs out, each with the address of the list without it."""
        chips = [
            Chip(label, self.arguments[name], self.address(url_for("dashboard.costs"), **{name: None}))
            for name, label in ((_CAMPAIGN, "Campaign"), (_CURRENCY, "Currency"))
            if name in self.arguments
        ]
        if days := [self.arguments[name] for name in (_FIRST, _LAST) if name in self.arguments]:
            without: dict[str, str | None] = {_FIRST: None, _LAST: None}
            words = " to ".join(dict.fromkeys(days))
            if len(days) == 1:
                words = f"{'from' if _FIRST in self.arguments else 'until'} {words}"
            chips.append(Chip("Days", words, self.address(url_for("dashboard.costs"), **without)))
        return chips

    def address(self, path: str, **changes: str | None) -> str:
        """The path with this choice; arguments that are changed to None are left out."""
        changed = {name: text for name, text in {**self.arguments, **changes}.items() if text is not None}
        return f"{path}?{urlencode(changed)}" if changed else path

    def _day(self, name: str) -> date | None:
        return date.fromisoformat(self.arguments[name]) if name in self.arguments else None


MAX_SHEET_BYTES = 1024 * 1024
_NAMES = ("campaign", "day", "amount", "currency")
_CHANGED = "The table is another one than the one that was looked at. Look at it again; nothing was saved."


@dataclass(frozen=True, slots=True)
class ListedCost:
    """A cost in the list. Its campaign's address is that of all figures, and `clicks` that of its clicks."""

    id: str
    campaign: str
    day: str
    amount: str
    address: str
    clicks: str


@dashboard.get("/costs")
@needs(Permission.ANALYTICS_READ)
async def costs() -> Response:
    """The costs that the address names, or all, the latest day first, and a form for another one."""
    now = resources().clock().astimezone(zone_of_browser())
    fields = {"campaign": "", "day": f"{now:%Y-%m-%d}", "amount": "", "currency": "EUR"}
    return await _page(fields, {})


@dashboard.post("/costs")
@needs(Permission.COSTS_WRITE)
async def costs_tell() -> Response:
    """Save a cost that was typed in."""
    fields, problems = {name: field(name) for name in _NAMES}, dict[str, str]()
    try:
        told = read_cost(fields)
        await tell_costs(resources().database, org_id(), [told], resources().clock())
    except FieldError as error:
        problems = {wrong.field: rule_words(wrong) for wrong in error.every}
    return await _page(fields, problems) if problems else redirect_with_notice("costs", "cost-told")


@dashboard.post("/costs/<cost_id>/delete")
@needs(Permission.COSTS_WRITE)
async def costs_delete(cost_id: str) -> Response:
    """Delete the cost."""
    await delete_cost(resources().database, org_id(), cost_id)
    return redirect_with_notice("costs", "cost-deleted")


@dashboard.get("/costs/sheet")
@needs(Permission.COSTS_WRITE)
async def costs_sheet() -> Response:
    """The form for a table."""
    return await _sheet("", "EUR")


@dashboard.post("/costs/sheet")
@needs(Permission.COSTS_WRITE)
@accepts_forms_of(MAX_SHEET_BYTES)
async def costs_sheet_check() -> Response:
    """The form again with each row of the table, and what is wrong with it. Nothing is saved."""
    return await _check(*_sent())


@dashboard.post("/costs/sheet/done")
@needs(Permission.COSTS_WRITE)
@accepts_forms_of(MAX_SHEET_BYTES)
async def costs_sheet_done() -> Response:
    """Save the costs of the rows without problems."""
    text, currency = _sent()
    if field("seen") != digest_of([text, currency]):
        return await _check(text, currency, _CHANGED)
    try:
        told = read_costs(text, currency).costs
        if told:
            await tell_costs(resources().database, org_id(), told, resources().clock())
    except (UnreadableCsv, FieldError) as error:
        return await _check(text, currency, str(error))
    return redirect_with_notice("costs", "costs-told")


def _sent() -> tuple[str, str]:
    # Not `field`, which would cut off tabs before the first cell or behind the last.
    return form().get("sheet", "").strip("\n"), field("currency")


async def _check(text: str, currency: str, problem: str = "") -> Response:
    try:
        sheet = read_costs(text, currency)
    except UnreadableCsv as error:
        return await _sheet(text, currency, problem=str(error))
    if not sheet.rows:
        return await _sheet(
            text, currency, problem="There is no row in it. Paste the table, or choose a file."
        )
    return await _sheet(text, currency, sheet, problem)


async def _sheet(text: str, currency: str, sheet: CostSheet | None = None, problem: str = "") -> Response:
    return await page(
        "costs/sheet.html",
        422 if problem else 200,
        unknown=await _unknown(cost.campaign for cost in sheet.costs) if sheet else {},
        text=text,
        currency=currency,
        sheet=sheet,
        problem=problem,
        seen=digest_of([text, currency]),
        most_rows=MOST_AT_ONCE,
    )


async def _page(fields: dict[str, str], problems: dict[str, str]) -> Response:
    return await page(
        "costs/costs.html",
        422 if problems else 200,
        later=partial(_listed, CostChoice.of_request(), paging()),
        fields=fields,
        problems=problems,
        longest=LONGEST_CAMPAIGN,
    )


async def _listed(choice: CostChoice, paged: Paging) -> dict[str, Any]:
    database = resources().database
    listed = await list_costs(database, org_id(), choice.filter, limit=PAGE_SIZE, skip=paged.skip)
    total, amounts = await sum_costs(database, org_id(), choice.filter)
    return {
        "rows": [_row(cost) for cost in listed],
        "unknown": await _unknown(cost.told.campaign for cost in listed),
        "choice": choice,
        "chips": choice.chips,
        "total": total,
        "amounts": [f"{amount(added)} {currency}" for currency, added in amounts.items()],
        "paging": paged.with_total(total),
        "path": url_for("dashboard.costs"),
        "definition": definitions_of([Measure.COST], lambda _: None)[Measure.COST],
    }


def _row(cost: Cost) -> ListedCost:
    """The cost with the addresses of all that is known of its campaign, and of its day's clicks."""
    told, campaign = cost_json(cost), {"campaign": cost.told.campaign}
    day = {"from": told["day"], "to": told["day"]}
    return ListedCost(
        told["id"],
        told["campaign"],
        told["day"],
        f"{told['amount']} {told['currency']}",
        f"{url_for('dashboard.home')}?{urlencode(campaign)}",
        f"{url_for('dashboard.clicks')}?{urlencode(day | campaign)}",
    )


async def _unknown(campaigns: Iterable[str]) -> dict[str, str]:
    """What is said of those campaigns that nothing else has."""
    return await say_unknown(resources().analytics, org_id(), campaigns)

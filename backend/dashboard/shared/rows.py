"""What the page of a report of single clicks, sales, leads or events shows: their rows, as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from backend.dashboard.analytics.figures import amount
from backend.dashboard.frame.outcomes import outcome_in_words
from backend.domain.reports.shared_rows import SharedClick, SharedRows, SharedSale
from backend.domain.reports.singles import ClicksOf, SalesOf
from backend.domain.sales.explanation import percent
from backend.domain.web.client import PLATFORM_NAMES

ROWS_NAMES: Mapping[ClicksOf | SalesOf, str] = {
    ClicksOf.CLICKS: "Single clicks",
    ClicksOf.NOT_COUNTED: "Single requests that do not count",
    SalesOf.SALES: "Single sales",
    SalesOf.LEADS: "Single leads",
    SalesOf.EVENTS: "Single events",
}
_CLICK_HEADS = ("hour", "link_name", "platform", "country", "referrer", "outcome", "not_counted", "variant")
_SALE_HEADS = ("hour", "event", "part", "credited", "link_name", "campaign", "country", "platform")
_MONEY_HEADS = ("revenue", "refunded", "currency")
_HOUR = "%-d %b %Y, %H:%M"


@dataclass(frozen=True, slots=True)
class ShownSingles:
    """The rows as texts, below their headings; the newest first. `total` is how many there are in all."""

    name: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int
    notes: Sequence[str]

    @property
    def left_out(self) -> int:
        """How many rows are not shown. Those that have expired are no rows, but are counted."""
        return max(self.total - len(self.rows), 0)


def shown_singles(found: SharedRows, *, shows_revenue: bool) -> ShownSingles:
    """What a page shows of the rows."""
    of, clicks = found.of, _CLICK_COLUMNS
    sales = {
        name: text
        for name, text in _SALE_COLUMNS.items()
        if ((shows_revenue and of is SalesOf.SALES) or name not in _OF_MONEY)
        and (of is SalesOf.EVENTS or name != _EVENT)
    }
    rows = [[text(click) for text in clicks.values()] for click in found.clicks] or [
        [text(sale) for text in sales.values()] for sale in found.sales
    ]
    headings = [*(clicks if isinstance(of, ClicksOf) else sales)]
    return ShownSingles(ROWS_NAMES[of], headings, rows, found.total, found.notes)


def lines_of_rows(found: SharedRows, *, shows_revenue: bool) -> list[list[str | None]]:
    """The rows as cells of a file, below their headings, with exact amounts."""
    if isinstance(found.of, ClicksOf):
        return [[*_CLICK_HEADS], *(_cells_of_click(click) for click in found.clicks)]
    heads: list[str | None] = [*_SALE_HEADS, *(_MONEY_HEADS if shows_revenue else ())]
    return [heads, *(_cells_of_sale(sale)[: len(heads)] for sale in found.sales)]


def _cells_of_click(click: SharedClick) -> list[str | None]:
    return [
        click.hour.isoformat(timespec="minutes"), click.link_name, click.platform, click.country,
        click.referrer, click.outcome, click.reason, click.variant,
    ]  # fmt: skip


def _cells_of_sale(sale: SharedSale) -> list[str | None]:
    revenue, refunded = (None if paid is None else f"{paid:f}" for paid in (sale.revenue, sale.refunded))
    part = "1" if sale.part == 1 else f"{float(sale.part):.6f}"
    return [
        sale.hour.isoformat(timespec="minutes"), sale.event, part, "true" if sale.is_credited else "false",
        sale.link_name, sale.campaign, sale.country, sale.platform, revenue, refunded, sale.currency,
    ]  # fmt: skip


def _credited_to(sale: SharedSale) -> str:
    credited_to = sale.link_name or sale.campaign or ("No link" if sale.is_credited else "Not credited")
    return credited_to if sale.part == 1 else f"{credited_to}, {percent(sale.part)} of it"


def _amount(sale: SharedSale) -> str:
    if sale.revenue is None:
        return "–"
    paid_back = f", {amount(sale.refunded)} paid back" if sale.refunded else ""
    return f"{amount(sale.revenue)} {sale.currency}{paid_back}"


_EVENT, _AMOUNT = "Event", "Amount"
_OF_MONEY = frozenset({_AMOUNT})
_CLICK_COLUMNS: Mapping[str, Callable[[SharedClick], str]] = {
    "Hour": lambda click: f"{click.hour:{_HOUR}}",
    "Link": lambda click: click.link_name or "A deleted link",
    "Device": lambda click: PLATFORM_NAMES.get(click.platform, click.platform),
    "Country": lambda click: click.country or "Unknown",
    "Referrer": lambda click: click.referrer or "None",
    "Outcome": lambda click: outcome_in_words(click.outcome, click.reason, click.variant),
}
_SALE_COLUMNS: Mapping[str, Callable[[SharedSale], str]] = {
    "Hour": lambda sale: f"{sale.hour:{_HOUR}}",
    _AMOUNT: _amount,
    _EVENT: lambda sale: sale.event or "–",
    "Credited to": _credited_to,
    "Country": lambda sale: sale.country or "–",
    "Device": lambda sale: PLATFORM_NAMES.get(sale.platform, sale.platform) if sale.platform else "–",
}

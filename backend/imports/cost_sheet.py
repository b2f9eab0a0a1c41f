"""Reads costs of campaigns out of what somebody pasted from a spreadsheet, or the file of a platform.

Headings say which column is which, by the names that advertising platforms give them. Amounts and days that
could be read in two ways are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from backend.domain.costs.cost import MOST_AT_ONCE, ToldCost
from backend.domain.costs.input import COST_FIELDS, COST_REQUIRED, told_before, told_cost
from backend.domain.errors import FieldError, InvalidField, MissingField, collect_errors, raise_all
from backend.domain.fields.rules import parse_fields
from backend.domain.fields.spreadsheets import as_it_was
from backend.domain.fields.times.written_times import without_midnight, written_day
from backend.imports.csv_file import UnreadableCsv, lines_of_table

# The columns, by their names in lower case: GA4, Google Ads, Meta, Microsoft, LinkedIn and TikTok.
_COLUMN_OF: dict[str, str] = {
    **dict.fromkeys(("campaign", "campaign name", "utm campaign"), "campaign"),
    **dict.fromkeys(("day", "date", "reporting starts", "start date (in utc)", "time period"), "day"),
    **dict.fromkeys(("cost", "amount", "amount spent", "spend", "total spent"), "amount"),
    **dict.fromkeys(("currency", "currency code"), "currency"),
}
_NEEDED = ("campaign", "day", "amount")
# A currency in the heading of an amount, such as "Amount spent (EUR)".
_NAMED_CURRENCY = re.compile(r"^(.+?) \(([a-z]{3})\)$")
_AMOUNT = re.compile(
    r"\d{1,15}([.,]\d+)?|[1-9]\d{0,2}((,\d{3})+\.\d+|(\.\d{3})+,\d+|(,\d{3}){2,}|(\.\d{3}){2,})",
    re.ASCII,
)
# As French and Swiss spreadsheets write thousands.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:[ '\u2019\u00a0\u202f\u2009]\d{3})+(?:[.,]\d+)?", re.ASCII)
# Thousand, or one and decimals?
_EITHER = re.compile(r"[1-9]\d{0,2}[.,]\d{3}", re.ASCII)


@dataclass(frozen=True, slots=True)
class CostRow:
    """A row with its number, as the spreadsheet counts it, and its cost, or else what is wrong with it."""

    number: int
    cells: Sequence[str]
    cost: ToldCost | None
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CostSheet:
    """The headings of a table, and its rows."""

    headings: Sequence[str]
    rows: Sequence[CostRow]

    @property
    def costs(self) -> list[ToldCost]:
        """The costs of all rows without problems."""
        return [row.cost for row in self.rows if row.cost]


def read_costs(text: str, currency: str) -> CostSheet:
    """The costs in a text. `currency` is that of rows that name none. Raises UnreadableCsv."""
    lines = lines_of_table(text)
    if not lines:
        return CostSheet([], [])
    headings, *rows = lines
    columns, of_heading = _columns(headings.cells)
    if missing := [name for name in _NEEDED if name not in columns]:
        raise UnreadableCsv(
            f"The first row has to name the columns, and none is called {' or '.join(missing)}. They are "
            "called campaign, day, amount and currency, or as your advertising platform calls them."
        )
    if len(rows) > MOST_AT_ONCE:
        raise UnreadableCsv(
            f"There are {len(rows):,} rows, and at most {MOST_AT_ONCE:,} are possible at once."
        )
    read = [_row(line.number, line.cells, columns, of_heading or currency) for line in rows]
    return CostSheet(headings.cells, _once(read))


def _columns(headings: Sequence[str]) -> tuple[list[str | None], str]:
    """What each column is, and the currency that the heading of the amounts names, or ""."""
    columns: list[str | None] = []
    currency = ""
    for heading in headings:
        name = " ".join(heading.replace("_", " ").lower().split())
        named = _NAMED_CURRENCY.match(name)
        if named and _COLUMN_OF.get(named[1]) == "amount":
            name, currency = named[1], named[2]
        column = _COLUMN_OF.get(name)
        columns.append(column if column not in columns else None)
    return columns, currency


def _row(number: int, cells: Sequence[str], columns: Sequence[str | None], currency: str) -> CostRow:
    pairs = zip(columns, cells, strict=False)
    found = {name: as_it_was(cell.strip()) for name, cell in pairs if name and cell.strip()}
    try:
        return CostRow(number, cells, read_cost({"currency": currency, **found}))
    except FieldError as error:
        problems = [f"{wrong.field} {rule_words(wrong)}" for wrong in error.every]
        return CostRow(number, cells, None, problems)


def read_cost(written: Mapping[str, str]) -> ToldCost:
    """The cost that a person wrote, each field as a text. Raises the errors of all fields."""
    found = {name: text.strip() for name, text in written.items() if text.strip()}
    given: dict[str, object] = {**found}
    errors: list[FieldError] = [MissingField(name) for name in COST_REQUIRED if name not in found]
    for name, read in (("day", read_day), ("amount", read_amount)):
        if name in found:
            del given[name]
            with collect_errors(errors):
                given[name] = read(name, found[name])
    fields = parse_fields(COST_FIELDS, given, errors)
    raise_all(errors)
    return told_cost(fields)


def rule_words(error: FieldError) -> str:
    """The rule that is broken, as it stands behind the name of the field."""
    return "is required" if isinstance(error, MissingField) else error.rule


def _once(rows: Sequence[CostRow]) -> list[CostRow]:
    """The rows, where one that tells the cost of an earlier one again is refused."""
    fine = [row for row in rows if row.cost]
    again = told_before([row.cost for row in fine if row.cost])
    refused = {
        fine[number].number: f"campaign, day and currency are those of row {fine[earlier].number}"
        for number, earlier in again.items()
    }
    return [
        replace(row, cost=None, problems=[refused[row.number]]) if row.number in refused else row
        for row in rows
    ]


def read_day(field: str, text: str) -> str:
    """The day as ISO 8601 has it: of 2026-03-01, 20260301 or 01.03.2026. Raises InvalidField."""
    day = written_day(without_midnight(text))
    if day is None:
        raise InvalidField(field, "must be a day such as 2026-03-01 or 01.03.2026")
    return day.isoformat()


def read_amount(field: str, text: str) -> Decimal:
    """The amount: 1234.50, 1,234.50, 1234,50, 1.234,50, 1 234,50 or 1'234.50. Raises InvalidField."""
    if _GROUPED.fullmatch(text):
        text = re.sub(r"[^\d.,]", "", text)
    elif _EITHER.fullmatch(text):
        raise InvalidField(field, "could be thousands or decimals: write 1234 or 1.2340")
    if not _AMOUNT.fullmatch(text):
        raise InvalidField(field, "must be a number such as 1234.50")
    decimal = max(text.rfind("."), text.rfind(","))
    if decimal < 0 or text.count(text[decimal]) > 1:
        return Decimal(re.sub(r"\D", "", text))
    whole = text[:decimal].replace(".", "").replace(",", "")
    return Decimal(f"{whole}.{text[decimal + 1 :]}")

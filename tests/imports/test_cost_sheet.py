"""Costs of campaigns out of spreadsheets and exports of advertising platforms."""

from __future__ import annotations

from decimal import Decimal

import pytest

from backend.domain.errors import InvalidField
from backend.domain.fields.spreadsheets import csv_line
from backend.imports.cost_sheet import CostSheet, read_amount, read_costs
from backend.imports.csv_file import UnreadableCsv


def told(sheet: CostSheet) -> list[tuple[str, str, str, str]]:
    """The costs as texts."""
    return [(cost.campaign, cost.day.isoformat(), f"{cost.amount}", cost.currency) for cost in sheet.costs]


@pytest.mark.parametrize(
    ("text", "amount"),
    [("1,234,567", "1234567"), ("1.234.567,5", "1234567.5"), ("1 234", "1234"), ("12'345", "12345")],
)
def test_thousands(text: str, amount: str) -> None:
    """Where it is certain that groups of digits are thousands, they are read as such."""
    assert read_amount("amount", text) == Decimal(amount)


@pytest.mark.parametrize(
    "text", ["0.123.456", "0,123,456", "0 123", "0,123.5", "12,34,567", "1,234,56", "1 23"]
)
def test_groups_that_are_no_thousands(text: str) -> None:
    """No amount is made of digits that nobody groups so."""
    with pytest.raises(InvalidField, match=r"^amount must be a number such as 1234\.50$"):
        read_amount("amount", text)


@pytest.mark.parametrize(
    "text",
    [
        "utm_campaign,date,cost,currency\nspring,2026-03-01,1234.50,EUR\n",
        "Campaign\tDay\tCost\tCurrency code\tClicks\nspring\t2026-03-01\t1,234.50\tEUR\t7",
        "Campaign name,Amount spent (EUR),Reporting starts\nspring,1234.5,2026-03-01\n",
        "Campaign;Date;Spend\nspring;01.03.2026;1.234,50\n",
        "\ufeffcampaign,day,amount\nspring,20260301,1234.5\n\n",
        "campaign;day;amount\nspring;01.03.2026 00:00;1234,50\n",
        "campaign,day,amount\nspring,2026-03-01T00:00:00.000,1234.50\n",
        "sep=;\ncampaign;day;amount\nspring;2026/03/01;1\u202f234,50\n",
        "campaign;day;amount\nspring;01.03.2026;1\u00a0234,50\n",
        "campaign;day;amount\nspring;01.03.2026;1\u2019234.50\n",
    ],
)
def test_exports_are_read_as_they_are(text: str) -> None:
    """By the headings that platforms give, with the amounts and days of several countries."""
    assert told(read_costs(text, "eur")) == [("spring", "2026-03-01", "1234.50", "EUR")]


def test_each_row_says_what_is_wrong_with_it() -> None:
    """What could be read in two ways is refused, and the other rows are read."""
    rows = (
        *("spring,2026-03-01,5,EUR", ",2026-03-01,5,EUR", "a,3/1/2026,5,EUR", 'a,2026-03-01,"1,234",EUR'),
        *("a,2026-03-01,-5,EUR", "a,2026-03-01,5,EURO", "spring,2026-03-01,6,EUR"),
    )
    text = "\n".join(["campaign,day,amount,currency", *rows])
    sheet = read_costs(text, "EUR")
    assert told(sheet) == [("spring", "2026-03-01", "5.00", "EUR")]
    assert {row.number: list(row.problems) for row in sheet.rows if row.problems} == {
        3: ["campaign is required"],
        4: ["day must be a day such as 2026-03-01 or 01.03.2026"],
        5: ["amount could be thousands or decimals: write 1234 or 1.2340"],
        6: ["amount must be a number such as 1234.50"],
        7: ["currency must be an ISO 4217 currency code, such as EUR"],
        8: ["campaign, day and currency are those of row 2"],
    }


def test_without_headings_nothing_is_guessed() -> None:
    """A cost in the wrong column would be believed."""
    with pytest.raises(UnreadableCsv, match="none is called day or amount"):
        read_costs("campaign,clicks\nspring,5", "EUR")


def test_campaigns_of_our_own_files() -> None:
    """A quote that keeps a spreadsheet from running a name is taken off again."""
    text = csv_line(["campaign", "day", "amount"]) + csv_line(["=spring; -20", "2026-03-01", "5"])
    assert told(read_costs(text, "EUR")) == [("=spring; -20", "2026-03-01", "5.00", "EUR")]

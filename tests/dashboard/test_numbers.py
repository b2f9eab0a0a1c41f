"""Every number in the tables of pages leads to what it counts, and every page says what its figures count."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from backend.domain.costs.cost import ToldCost
from backend.domain.links.links import Link
from backend.storage.costs.costs import tell_costs
from backend.storage.driver.mongo import Database
from tests.dashboard.campaigns import bought, clicked, words
from tests.dashboard.people import Person

PAGES = ("/", "/links", "/links/{link}", "/attribution", "/cohorts", "/costs", "/sales", "/clicks")
# Headings of numbers that count nothing, whose row is the fact itself, or that stand beside what leads on.
_FACTS = {"Made", "Amount", "Before", "Visitors", "Delete"}


def numbers(page: str) -> list[tuple[str, str]]:
    """Each number above 0 in a table, as the label of its column, and the cell."""
    found = []
    for table in re.findall(r"<table.*?</table>", page.partition("<main")[2], re.S):
        head, _, body = table.partition("<tbody>")
        labels = [words(cell) for cell in re.findall(r"<th\b.*?</th>", head, re.S)]
        for row in re.findall(r"<tr.*?</tr>", body, re.S):
            cells = re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.S)
            found += [
                (label, cell)
                for label, cell in zip(labels, cells, strict=False)
                if re.match('<t[hd] class="number', cell) and re.search("[1-9]", words(cell))
            ]
    return found


@pytest.mark.parametrize("path", PAGES)
async def test_numbers_lead_to_their_rows(
    person: Person, database: Database, link: Link, now: datetime, path: str
) -> None:
    """A number without a way to its rows is a fact of its row, a time before, or visitors beside clicks."""
    await clicked(database, link, now - timedelta(days=1), 3, country="NZ")
    await bought(database, link, now - timedelta(days=1), "9.50", order="order-1", customer="ada")
    await tell_costs(database, link.org_id, [ToldCost("spring", now.date(), Decimal(5), "EUR")], now)
    page = (await person.get(path.format(link=link.id))).text
    lost = [
        (label, words(cell))
        for label, cell in numbers(page)
        if "<a " not in cell and label.rstrip(" ▼") not in _FACTS
    ]
    assert lost == []
    if path not in {"/costs", "/sales", "/clicks"}:  # whose rows are what is counted
        assert 'popovertarget="counts-' in page or "What these figures count" in page or "sign" in page

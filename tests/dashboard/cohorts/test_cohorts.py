"""The page with customers over time."""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from html import unescape

import httpx

from backend.dashboard.cohorts.triangle import triangle_of
from backend.domain.analytics.cohorts.cells import CellFigure
from backend.domain.analytics.cohorts.cohorts import Cohort, CohortTable, CohortWeek
from backend.domain.analytics.cohorts.sales import SaleFigures
from backend.system.clock import utc_now
from tests.dashboard.campaigns import address, rows, table
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

DAY = timedelta(days=1)


async def test_what_customers_bought_later(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Each week by itself or added up, with who is new; a filter goes by the first touch."""
    assert "No customers came in this time" in (await person.get("/cohorts")).text
    await Visitor(client, organization).results(
        call("identify", customer_id="ada", ago=5 * DAY),
        check(ago=5 * DAY, utm_campaign="spring"),
        conversion(ago=4 * DAY, revenue=20, customer_id="ada"),
        conversion(ago=DAY, revenue=5, customer_id="ada"),
    )
    day = (utc_now() - 5 * DAY).astimezone(UTC).date()
    label = f"{day - timedelta(days=day.weekday()):%-d %b %Y}"
    for path in ("/cohorts", "/cohorts?show=revenue_per_customer&sum=1"):
        page = (await person.get(path)).text
        first = table(page, "Customers by the week of their first touch")[0]
        assert (first[0].removesuffix(" (partly)"), *first[1:3]) == (label, "1", "25.00 so far"), path
        kinds = table(page, "New and returning customers")
        assert [row[1:] for row in kinds] == [["1", "2", "25.00 EUR"], ["0", "0", "–"]]
        assert "<dd>1 day</dd>" in page
        sales = await person.get(address(page, "25.00"))
        assert [row[1] for row in rows(sales.text)] == ["5.00 EUR", "20.00 EUR"]
        assert "2 sales, the latest first" in sales.text
        customers = await person.get(address(page, "1"))
        assert rows(customers.text)[0][:3] == ["ada", "2", "25.00 EUR"]
        assert len((await person.get(csv_of(sales.text))).text.splitlines()) == 3
        assert (await person.get(csv_of(customers.text))).text.splitlines()[1].startswith("ada,25.00,EUR,")
    assert "whose first sale of all is in this time" in (await person.get("/cohorts/sales")).text
    nobody = await person.get("/cohorts/sales?cohort=2020-01-06&week=1")
    assert "No sales" in nobody.text
    other = (await person.get("/cohorts?campaign=autumn")).text
    assert "No customers came in this time" in other
    too_long = await person.get("/cohorts?from=2020-01-01&to=2026-01-01")
    assert too_long.status_code == 422
    assert "must be at most 400 days before to" in too_long.text


def csv_of(page: str) -> str:
    """The address of the page's file."""
    match = re.search(r'<a class="csv" href="([^"]+)"', page)
    assert match
    return unescape(match[1])


def test_shades_follow_the_largest_number() -> None:
    """The largest is the darkest, nothing has none; and the table begins with the first customers."""

    def week(conversions: int) -> CohortWeek:
        return CohortWeek(SaleFigures(1, conversions), is_partial=False)

    cohorts = [Cohort("2026-03-02", 0, [week(0)]), Cohort("2026-03-09", 2, [week(10), week(0), week(1)])]
    triangle = triangle_of(
        CohortTable(cohorts), CellFigure.CONVERSIONS, "EUR", is_summed=False, address="{}/{}".format
    )
    [row] = triangle.rows
    assert [(cell.text, cell.shade) for cell in row.cells] == [("10", 5), ("–", 0), ("1", 1)]
    assert [cell.address for cell in row.cells] == ["2026-03-09/0", "", "2026-03-09/2"]

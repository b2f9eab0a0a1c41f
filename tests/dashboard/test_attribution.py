"""The page that says what came from which link, campaign and source."""

from __future__ import annotations

import re
from datetime import timedelta

import httpx
import pytest

from tests.api.links import create, info
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person, heading
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, call, check, conversion


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


def rows(page: httpx.Response) -> list[list[str]]:
    """The cells of the table's rows, as text."""
    body = page.text.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")[:-1]]
    return [[" ".join(re.sub(r"<.*?>", " ", cell).split()) for cell in row] for row in cells]


async def test_a_row_for_each_link(
    person: Person, visitor: Visitor, client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Leads, conversions, customers and revenue stand beside the link's name, and in the totals."""
    link = await info(client, organization, await create(client, organization, link_name="<Spring>"))
    await visitor.results(
        conversion(ago=timedelta(hours=2), revenue=1234.5),
        check(ago=timedelta(hours=1), cl_link_id=link["id"]),
        call("lead"),
        conversion(customer_id="ada"),
        conversion(customer_id="ada", revenue=5, currency="JPY"),
    )
    page = await person.get("/attribution")
    assert heading(page) == "Attribution"
    assert rows(page) == [
        ["&lt;Spring&gt;", "1", "2", "", "1", "19.99 EUR 5 JPY"],
        ["No link", "0", "1", "", "1", "1,234.50 EUR"],
    ]
    assert "<dd>3</dd>" in page.text


async def test_campaigns_first_touch_and_days(person: Person, visitor: Visitor) -> None:
    """The form's choices reach the report."""
    await visitor.results(
        check(ago=timedelta(hours=3), utm_source="news", utm_campaign="spring"),
        check(ago=timedelta(hours=2), utm_source="ads", utm_campaign="autumn"),
        conversion(),
    )
    assert [row[0] for row in rows(await person.get("/attribution?by=campaign&touch=first"))] == ["spring"]
    assert [row[0] for row in rows(await person.get("/attribution?by=source"))] == ["ads"]
    assert rows(await person.get("/attribution?by=source&until=2001-01-01")) == []
    assert [row[0] for row in rows(await person.get("/attribution?by=source&since=2001-01-01"))] == ["ads"]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("since=yesterday", "First day must be a day such as 2027-12-31."),
        ("until=9999-12-31", "Last day must be a day such as 2027-12-31."),
        ("since=2026-02-01&until=2026-01-01", "Last day must not be before the first day."),
    ],
)
async def test_days_that_are_none(person: Person, query: str, problem: str) -> None:
    """A day that can't be read is named, and the page stays usable."""
    page = await person.get(f"/attribution?{query}")
    assert page.status_code == 422
    assert problem in page.text


async def test_nothing_of_another_organization(
    person: Person, client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """What other organizations' visitors did is not on the page."""
    await Visitor(client, await make_organization()).results(check(utm_source="theirs"), conversion())
    page = await person.get("/attribution?by=source")
    assert "theirs" not in page.text
    assert rows(page) == []

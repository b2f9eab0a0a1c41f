"""The page that says what each campaign, link and source brought in."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape

from backend.dashboard.analytics.figures import meanings_of
from backend.domain.analytics.measures import Measure
from backend.domain.costs.cost import ToldCost
from backend.domain.links.links import Link
from backend.storage.costs.costs import tell_costs
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.purge import purge_link
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import (
    address,
    bought,
    clicked,
    figures,
    make_link,
    rows,
    sold_by_nobody,
    table,
    words,
)
from tests.dashboard.people import Person, heading
from tests.facts.organizations import TestOrganization


async def test_what_clicks_came_to(person: Person, database: Database, link: Link, now: datetime) -> None:
    """What came of clicks stands beside them in one row, and in the totals.

    Without a comparison there is no order by changes.
    """
    await clicked(database, link, now, 8)
    await bought(database, link, now, "12345.67", refunded="345.67")
    page = await person.get("/attribution?compare=none&sort=difference.clicks")
    assert heading(page) == "Attribution"
    assert "by-change" not in page.text
    assert rows(page.text) == [
        ["spring", "8", "1", "12,346", "345.67", "12,000", "12.50 %", "1,543.2088", "0", "0", "0"],
    ]
    assert {name: number for name, (number, _) in figures(page.text).items()} == {
        "Clicks": "8", "Leads": "0", "Conversions": "1", "Conversion rate": "12.50 %", "Customers": "0",
        "Contacts": "0", "Revenue": "12,346 EUR", "Refunded": "345.67 EUR", "Net revenue": "12,000 EUR",
        "Revenue per click": "1,543.2088 EUR",
    }  # fmt: skip


async def test_any_column_sorts(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """A click on a heading sorts by it, the next one the other way round; at first by revenue.

    Rows can be by every property of a link, each for itself or all of a campaign together.
    """
    other = await make_link(database, organization, "Autumn", now, utm_campaign="autumn")
    await clicked(database, link, now, 3)
    await clicked(
        database, await make_link(database, organization, "May", now, utm_campaign="spring"), now, 2
    )
    await clicked(database, other, now, 4)
    await bought(database, other, now, "3")
    page = (await person.get("/attribution")).text
    assert [row[0] for row in rows(page)] == ["autumn", "spring"]
    assert re.findall(r'aria-sort="(\w+)"', page) == ["descending"]
    clicks = re.search(r'<a href="([^"]+)">Clicks', page)
    assert clicks
    page = (await person.get(clicks[1])).text
    assert [row[:2] for row in rows(page)] == [["spring", "5"], ["autumn", "4"]]
    again = re.search(r'<a href="([^"]+)">Clicks', page)
    assert again
    page = (await person.get(again[1])).text
    assert [row[0] for row in rows(page)] == ["autumn", "spring"]
    assert re.findall(r'aria-sort="(\w+)"', page) == ["ascending"]
    by_link = (await person.get("/attribution?by=link&sort=-revenue_per_click")).text
    assert sorted(row[:2] for row in rows(by_link)) == [["Autumn", "4"], ["May", "2"], ["Spring", "3"]]
    assert rows(by_link)[0][0] == "Autumn"


async def test_rows_sort_by_how_much_they_changed(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """What fell most comes last, also where nothing is left; the other way round it comes first."""
    fallen, new = [
        await make_link(database, organization, name, now, utm_campaign=name) for name in ("fallen", "new")
    ]
    await clicked(database, link, now, 100)
    await clicked(database, link, now - timedelta(days=7), 90)
    await clicked(database, fallen, now - timedelta(days=7), 30)
    await clicked(database, new, now, 20)
    least = (await person.get("/attribution?period=7&sort=difference.clicks")).text
    assert rows(least)[0][0] == "fallen"
    by_change = re.search(r'<a class="by-change" href="([^"]+)"[^>]*>.*?Clicks, by change', least)
    assert by_change
    page = (await person.get(unescape(by_change[1]))).text
    assert [row[:2] for row in rows(page, with_changes=True)] == [
        ["new", "20 +20 against the time before: 0"],
        ["spring", "100 ▲up 11 % against the time before: 90"],
        ["fallen", "0 ▼down 100 % against the time before: 30"],
    ]


async def test_how_credit_is_given_is_chosen_and_said(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """Whose touches, which model, how old and as of when; the page says it, also where nothing was chosen, or
    what there is not. A click on a row opens the overview of that row, in the same period."""
    other = await make_link(database, organization, "Autumn", now, utm_campaign="autumn")
    await bought(database, link, now, "3", after=other)
    page = (await person.get("/attribution?touch=middle&as_of=soon&sort=-conversions")).text
    assert "credited to the last non-direct touch of the same device, however long" in page
    assert rows(page)[0][:3] == ["spring", "0", "1"]
    page = (await person.get("/attribution?touch=last_non_direct&sort=-conversions")).text
    assert rows(page)[0][:3] == ["spring", "0", "1"]
    page = (await person.get("/attribution?period=7&touch=first&by=campaign&sort=-conversions")).text
    assert rows(page)[0][:3] == ["autumn", "0", "1"]
    assert address(page, "autumn") == "/?period=7&campaign=autumn"
    chosen = "touch=linear&credit=customer&window=30&as_of=2026-01-31"
    page = (await person.get(f"/attribution?{chosen}")).text
    assert "all touches alike (linear) of all devices of the customer, at most 30 days before, as" in page
    assert "3.00" not in page
    for text in (
        'value="linear" selected',
        'value="customer" selected',
        'value="30" selected',
        "2026-01-31",
    ):
        assert text in page
    assert "/attribution.csv?touch=linear&amp;credit=customer&amp;window=30&amp;as_of=2026-01-31" in page


async def test_currencies_are_never_mixed(
    person: Person, database: Database, link: Link, now: datetime
) -> None:
    """All of them stand beside all conversions; one alone is a click away, with its own conversions only.

    Without refunds there are no columns of them: zeros would take the room of the names.
    """
    await clicked(database, link, now, 4)
    await bought(database, link, now, "100")
    await bought(database, link, now, "7", "USD")
    page = (await person.get("/attribution")).text
    count = "2 1 in EUR 1 in USD"
    every = ["spring", "4", count, "100.00 EUR 7.00 USD", "50.00 %", "25.0000 EUR 1.7500 USD", "0", "0", "0"]
    assert rows(page) == [every]
    assert {"Refunded", "Net revenue"}.isdisjoint(figures(page))
    one = await person.get(address(page, "7.00 USD"))
    assert rows(one.text) == [["spring", "4", "1", "7.00", "25.00 %", "1.7500", "0", "0", "0"]]
    assert "Conversions in other currencies than USD are in no figure (EUR: 1)." in words(one.text)
    every_again = re.search(r'<a class="chip" href="([^"]+)"><span>Currency: <strong>USD', one.text)
    assert every_again
    assert every_again[1] == "/attribution"


async def test_an_order_by_amounts_shows_all_currencies(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """The main one decides, then the next one: no sale is hidden by the order, nor in the file."""
    for name, amount, currency in (("dollars", "90", "USD"), ("few", "7", "EUR")):
        other = await make_link(database, organization, name, now, utm_campaign=name)
        await bought(database, other, now, amount, currency)
    plain = await make_link(database, organization, "Plain", now, utm_campaign="plain")
    await clicked(database, plain, now, 9)
    await bought(database, link, now, "100")
    page = (await person.get("/attribution")).text
    assert [(row[0], row[2], row[3]) for row in rows(page)] == [
        ("spring", "1", "100.00 EUR"), ("few", "1", "7.00 EUR"), ("dollars", "1", "90.00 USD"),
        ("plain", "0", "–"),
    ]  # fmt: skip
    assert figures(page)["Conversions"][0] == "3"
    head, *lines = csv.reader(io.StringIO((await person.get("/attribution.csv?sort=-revenue")).text))
    amounts = [head.index(f"revenue_{currency}") for currency in ("EUR", "USD")]
    assert [[line[0], *(line[number] for number in amounts)] for line in lines] == [
        ["spring", "100.00", "0"], ["few", "7.00", "0"], ["dollars", "0", "90.00"], ["plain", "0", "0"],
    ]  # fmt: skip


async def test_sales_of_nobody_and_of_deleted_links_stand_apart(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """In rows of their own, which lead nowhere, beside what has no value; the file tells them by a column."""
    plain, gone = [await make_link(database, organization, name, now) for name in ("Plain", "Gone")]
    await bought(database, plain, now, "1")
    await bought(database, gone, now, "2")
    await bought(database, link, now, "4", after=None)
    await sold_by_nobody(database, organization, now, "8")
    assert await purge_link(database, None, gone.id, organization.id, now)
    page = (await person.get("/attribution?sort=-revenue")).text
    assert [(row[0], row[3]) for row in rows(page)] == [
        ("Not credited", "8.00"), ("spring", "4.00"), ("Links deleted for good", "2.00"), ("None", "1.00"),
    ]  # fmt: skip
    assert 'href="/?campaign="' in page
    assert len(re.findall(r'<span class="top-name"><span>', page)) == 2
    assert "“Links deleted for good” (kind purged_links) has leads and conversions" in words(page)
    overview = (await person.get("/")).text
    assert [row[0] for row in table(overview, "Campaigns")] == [
        "Not credited", "spring", "Links deleted for good", "None",
    ]  # fmt: skip
    file = (await person.get("/attribution.csv?sort=-revenue")).text
    assert [row[:2] for row in csv.reader(io.StringIO(file))] == [
        ["campaign", "kind"], ["", "not_credited"], ["spring", ""], ["", "purged_links"], ["", ""],
    ]  # fmt: skip


async def test_pages_of_rows_and_a_file_of_all(
    person: Person, database: Database, organization: TestOrganization, now: datetime
) -> None:
    """Pages have 25 rows in one order; the file has all of them in the same one."""
    for number in range(27):
        made = await make_link(database, organization, "A link", now, utm_campaign=f"c{number:02d}")
        await clicked(database, made, now, 1)
    first = (await person.get("/attribution")).text
    assert len(rows(first)) == 25
    assert "27 rows" in first
    second = (await person.get(address(first, "Next page"))).text
    assert [row[0] for row in rows(second)] == ["c25", "c26"]
    assert address(second, "First page") == "/attribution"
    assert len(rows((await person.get("/attribution?cursor=nonsense")).text)) == 25
    head, *lines = csv.reader(io.StringIO((await person.get("/attribution.csv")).text))
    assert head[:4] == ["campaign", "kind", "clicks", "conversions"]
    assert [line[0] for line in lines] == [f"c{number:02d}" for number in range(27)]


async def test_days_that_are_none(person: Person) -> None:
    """A day that can't be read is named, and the page stays usable."""
    page = await person.get("/attribution?from=yesterday")
    assert page.status_code == 422
    assert "First day must be a day such as 2027-12-31." in page.text
    assert "Clicks" in figures(page.text)


async def test_nothing_of_another_organization(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """What other organizations' links brought in is neither on the page nor in the file."""
    link = await make_link(database, await make_organization(), "Theirs", now, utm_campaign="theirs")
    await clicked(database, link, now - timedelta(hours=1))
    await bought(database, link, now, "5")
    page = await person.get("/attribution?by=campaign")
    assert "theirs" not in page.text
    assert rows(page.text) == []
    assert len((await person.get("/attribution.csv")).text.splitlines()) == 1


async def test_what_campaigns_cost_stands_beside_what_they_brought(
    person: Person, database: Database, link: Link, organization: TestOrganization, now: datetime
) -> None:
    """As soon as it was told; a campaign without a cost has none, and the return of all leaves it out.

    Each figure of a page has its sentence there, and the page says how credit is given.
    """
    await clicked(database, link, now, 2)
    await bought(database, link, now, "30.00")
    free = await make_link(database, organization, "Free", now, utm_source="ads")
    await bought(database, free, now, "500.00")
    assert "Cost" not in figures((await person.get("/")).text)
    told = [ToldCost("spring", now.date(), Decimal(12), "EUR")]
    await tell_costs(database, link.org_id, told, now)
    page = (await person.get("/attribution?period=today&sort=-return_on_ad_spend")).text
    assert [[row[0], *row[4:8]] for row in rows(page)] == [
        ["spring", "12.00", "2.50", "12.00", "6.0000"],
        ["None", "–", "–", "–", "–"],
    ]
    assert figures(page)["Return on ad spend"][0] == "2.50"
    costs = "/costs?from=2026-03-18&to=2026-03-18&campaign=spring"
    assert {address(page, number) for number in ("12.00", "6.0000")} == {costs}
    by_click = (await person.get("/attribution?sort=-cost_per_click")).text
    assert [[row[0], row[7]] for row in rows(by_click)] == [["spring", "6.0000"], ["None", "–"]]
    overview = (await person.get("/?sort=-return_on_ad_spend")).text
    assert [figures(overview)[name][0] for name in ("Cost", "Return on ad spend")] == ["12.00 EUR", "2.50"]
    assert [[row[0], row[4]] for row in table(overview, "Campaigns")] == [["spring", "2.50"], ["None", "–"]]
    assert {len(row) for row in table(overview, "Links")} == {4}
    by_source = (await person.get("/attribution?by=source&sort=-revenue")).text
    assert [(row[0], row[4]) for row in rows(by_source)] == [("ads", "–"), ("None", "–")]
    assert "by source they are not known, and in the totals only" in words(by_source)
    of_links = [(await person.get(path)).text for path in (f"/links/{link.id}", "/links")]
    for shown in (page, overview, *of_links):
        assert_explained(shown)


def assert_explained(page: str) -> None:
    """Fail unless the page has the meaning of each of its figures."""
    assert "credited to the last non-direct touch of the same device" in page
    meanings = dict(
        re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page.partition("What these figures count")[2])
    )
    asked = {name: meaning for name, meaning in meanings_of(Measure) if name in figures(page)}
    assert meanings.items() >= asked.items()
    assert "Conversions" in meanings

"""The table of links: what came of each, every order, filters in the address, and the file of all."""

from __future__ import annotations

import csv
import io
import re
from datetime import datetime, timedelta

import httpx
import pytest

from backend.dashboard.frame import paging as frame_paging
from backend.dashboard.links import figures as link_figures
from backend.dashboard.links import listing
from backend.dashboard.links.link_query import MADE_BY
from backend.domain.ids import LinkId
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ArchiveLink, ChangeLink, LinkOperation, LinkRequest
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import store_link
from tests.api.link_calls import API
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import address, bought, clicked, make_link, rows, words
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


@pytest.fixture
async def sold(
    person: Person, database: Database, organization: TestOrganization, now: datetime
) -> dict[str, Link]:
    """Three links: one is clicked, one sells, and nothing came of the newest."""
    ages = {"Clicked": 3, "Sells": 2, "Quiet": 1}
    made = {
        name: await make_link(
            database, organization, name, now - timedelta(days=age), utm_campaign=name.lower()
        )
        for name, age in ages.items()
    }
    await clicked(database, made["Clicked"], now, 5)
    await clicked(database, made["Clicked"], now - timedelta(days=60), 100)
    await clicked(database, made["Sells"], now, 2)
    await bought(database, made["Sells"], now, "1234567.89")
    await bought(database, made["Sells"], now, "7", "USD")
    return made


def names(page: str) -> list[str]:
    """The links of the table, in its order."""
    return [words(name) for name in re.findall(r'<span class="name-line"><a[^>]*>(.*?)</a>', page)]


async def change(database: Database, link: Link, now: datetime, operation: LinkOperation) -> None:
    """Change the link as somebody would."""
    request = LinkRequest(link.org_id, CreatedBy.PERSON, now, operation)
    await store_link(database, request, DestinationPolicies(database))


async def test_what_came_of_each_link(person: Person, sold: dict[str, Link]) -> None:
    """Clicks of the period with their course by day, sales, and the amounts in each currency.

    A click on a heading sorts by it with most on top, the next click the other way round.
    """
    page = (await person.get("/links")).text
    figures_by_name = {name: row[4:] for name, row in zip(names(page), rows(page), strict=True)}
    assert figures_by_name == {
        "Quiet": ["0", "0", "–", "17 Mar 2026"],
        "Sells": ["2", "2", "1,234,568 EUR 7.00 USD", "16 Mar 2026"],
        "Clicked": ["5", "0", "–", "15 Mar 2026"],
    }
    courses = [[*map(int, numbers.split(","))] for numbers in re.findall(r'data-spark="([\d,]+)"', page)]
    assert [(len(course), course[-1], sum(course)) for course in courses] == [
        (28, 0, 0),
        (28, 2, 2),
        (28, 5, 5),
    ]
    in_dollars = (await person.get(address(page, "USD"))).text
    assert rows(in_dollars)[1][4:7] == ["2", "1", "7.00"]
    assert words(in_dollars).count("Currency: USD") == 1
    longer = (await person.get("/links?period=90")).text
    assert rows(longer)[2][4] == "105"
    assert re.findall(r'aria-sort="(\w+)"', longer) == ["descending"]
    page = (await person.get(address(longer, "Clicks"))).text
    assert names(page) == ["Clicked", "Sells", "Quiet"]
    there = re.search(r'aria-sort="descending"><a href="([^"]+)">Clicks', page)
    assert there
    assert "period=90" in there[1]
    page = (await person.get(there[1].replace("&amp;", "&"))).text
    assert names(page) == ["Quiet", "Sells", "Clicked"]
    assert re.findall(r'aria-sort="(\w+)"', page) == ["ascending"]


async def test_every_column_sorts(person: Person, sold: dict[str, Link]) -> None:
    """Whatever decides the order, links without anything are in the list too; the file has the same order."""
    for sort, order in (
        ("-made", ["Quiet", "Sells", "Clicked"]),
        ("made", ["Clicked", "Sells", "Quiet"]),
        ("name", ["Clicked", "Quiet", "Sells"]),
        ("-clicks", ["Clicked", "Sells", "Quiet"]),
        ("clicks", ["Quiet", "Sells", "Clicked"]),
        ("-conversions", ["Sells"]),
        ("-revenue", ["Sells"]),
        ("-nothing", ["Quiet", "Sells", "Clicked"]),
    ):
        shown = names((await person.get(f"/links?sort={sort}")).text)
        assert (len(shown), shown[: len(order)]) == (3, order), sort
        _, *lines = csv.reader(io.StringIO((await person.get(f"/links.csv?sort={sort}")).text))
        assert [line[1] for line in lines] == shown, sort


async def test_filters(person: Person, database: Database, sold: dict[str, Link], now: datetime) -> None:
    """State, domain, campaign, days and text filter in every order; each is named, and can be taken off.

    Where figures decide the order, links are found by the same conditions: one of each kind shows it.
    """
    await change(database, sold["Clicked"], now, ChangeLink(sold["Clicked"].id, {"is_enabled": False}))
    await change(database, sold["Quiet"], now, ArchiveLink(sold["Quiet"].id))
    for asked, matching in (
        ("", ["Sells", "Clicked"]),
        ("state=enabled", ["Sells"]),
        ("state=disabled", ["Clicked"]),
        ("state=archived", ["Quiet"]),
        ("state=nothing", ["Sells", "Clicked"]),
        ("campaign=clicked", ["Clicked"]),
        (f"domain={sold['Sells'].domain}", ["Sells", "Clicked"]),
        ("domain=go.elsewhere.example", []),
        ("made_from=2026-03-16", ["Sells"]),
        ("made_to=2026-03-15", ["Clicked"]),
        ("q=sell", ["Sells"]),
        ("q=a%00b", []),
        ("sort=-clicks", ["Sells", "Clicked"]),
        ("sort=-clicks&state=archived", ["Quiet"]),
        ("sort=-clicks&campaign=clicked", ["Clicked"]),
        ("sort=-clicks&made_from=2026-03-16", ["Sells"]),
        ("sort=-clicks&domain=go.elsewhere.example", []),
        ("sort=-clicks&q=sell", ["Sells"]),
    ):
        answer = await person.get(f"/links?{asked}")
        assert (answer.status_code, sorted(names(answer.text))) == (200, sorted(matching)), asked
    page = (await person.get("/links?q=s&campaign=sells&period=7")).text
    chips = re.findall(r'<a class="chip" href="([^"]+)"', page)
    assert [chip.replace("&amp;", "&") for chip in chips] == [
        "/links?period=7&campaign=sells", "/links?period=7&q=s"
    ]  # fmt: skip


async def test_how_links_were_made(
    person: Person,
    client: httpx.AsyncClient,
    database: Database,
    sold: dict[str, Link],
    organization: TestOrganization,
) -> None:
    """The filter leaves on the page and in its file the links that `createdBy` leaves over the REST API."""
    for name, kind in zip(sold, CreatedBy, strict=True):
        await database["links"].update_one({"_id": sold[name].id}, {"$set": {"created_by": kind.value}})
    for name, kind in zip(sold, CreatedBy, strict=True):
        page = (await person.get(f"/links?created_by={kind}")).text
        _, *lines = csv.reader(io.StringIO((await person.get(f"/links.csv?created_by={kind}")).text))
        assert names(page) == [line[1] for line in lines] == [name]
        for query in (f"/links/page?createdBy={kind}", f"/links?created_by={kind}"):
            found_links = (await client.get(API + query, headers=organization.headers)).json()["links"]
            assert [link["link_name"] for link in found_links] == [name]
        assert MADE_BY[kind] in re.findall(r'<a class="chip"[^>]*>(.*?)</a>', page, re.DOTALL)[0]
        assert f'value="{kind}" selected' in page


async def test_days_are_those_of_the_person(
    person: Person, database: Database, organization: TestOrganization, now: datetime
) -> None:
    """In a zone where it is tomorrow already, a link was made tomorrow, and that day's filter finds it."""
    await make_link(database, organization, "Late", now)
    page = (await person.get("/links?zone=Pacific/Kiritimati&made_from=2026-03-19")).text
    assert (names(page), rows(page)[0][-1]) == (["Late"], "19 Mar 2026")


async def test_days_that_are_none(person: Person, sold: dict[str, Link]) -> None:
    """What can't be read is said at its field, and nothing is shown as if it were the answer."""
    for asked, problem in (
        ("made_from=yesterday", "Made from must be a day such as 2027-12-31."),
        ("made_from=2026-02-01&made_to=2026-01-01", "Made to must not be before the first day."),
    ):
        page = await person.get(f"/links?{asked}")
        assert (page.status_code, names(page.text)) == (422, [])
        assert problem in page.text
        assert (await person.get(f"/links.csv?{asked}")).status_code == 422


async def test_the_file_has_all_links(
    person: Person, database: Database, organization: TestOrganization, now: datetime
) -> None:
    """Pages have 25 links in one order, made-up numbers of pages are the first; the file has all of them,
    with exact amounts."""
    made = [await make_link(database, organization, f"L{number:02d}", now) for number in range(27)]
    await bought(database, made[26], now, "12345.67")
    first = (await person.get("/links?sort=name&q=L")).text
    assert "27 links" in first
    assert 'rel="next" href="/links?sort=name&amp;q=L&amp;page=2"' in first
    second = (await person.get(address(first, "Next page"))).text
    assert (names(first), names(second)) == ([f"L{number:02d}" for number in range(25)], ["L25", "L26"])
    assert 'rel="prev" href="/links?sort=name&amp;q=L&amp;page=1"' in second
    assert 'rel="next"' not in second
    for made_up in ("0", "-1", "x", "9" * 30, "²"):
        page = (await person.client.get("/links", params={"page": made_up, "q": "L00"})).text
        assert names(page) == ["L00"], made_up
    head, *lines = csv.reader(io.StringIO((await person.get("/links.csv?sort=name")).text))
    assert [line[1] for line in lines] == [f"L{number:02d}" for number in range(27)]
    last = dict(zip(head, lines[-1], strict=True))
    assert head[-3:] == ["conversions", "conversions_EUR", "revenue_EUR"]
    assert (last["id"], *lines[-1][-3:]) == (made[26].id, "1", "1", "12345.67")
    one = next(csv.reader(io.StringIO((await person.get("/links.csv?currency=EUR")).text)))
    assert one == [column for column in head if column != "conversions_EUR"]


async def test_more_links_than_can_be_ranked(
    person: Person, sold: dict[str, Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says so and stays usable, and the file is refused: nobody gets a part as the whole."""
    monkeypatch.setattr(link_figures, "MOST_RANKED", 2)
    page = await person.get("/links?sort=clicks")
    assert (page.status_code, names(page.text)) == (200, [])
    assert "Filters leave fewer." in page.text
    assert (await person.get("/links.csv?sort=-clicks")).status_code == 422
    assert len(names((await person.get("/links?sort=-clicks&q=Clicked")).text)) == 1


async def test_pages_of_many_links_by_clicks(
    person: Person,
    database: Database,
    organization: TestOrganization,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Page for page it is the order of the file; those with most clicks need no order of all links."""
    made = [await make_link(database, organization, f"L{number}", now) for number in range(6)]
    for link, clicks in zip(made, (3, 0, 5, 3, 4, 9), strict=True):
        await clicked(database, link, now, clicks)
    await change(database, made[5], now, ArchiveLink(made[5].id))
    monkeypatch.setattr(listing, "PAGE_SIZE", 2)
    monkeypatch.setattr(frame_paging, "PAGE_SIZE", 2)
    _, *lines = csv.reader(io.StringIO((await person.get("/links.csv?sort=-clicks")).text))
    pages = [(await person.get(f"/links?sort=-clicks&page={number}")).text for number in (1, 2, 3)]
    tied = sorted((made[0], made[3]), key=lambda link: link.id)
    order = ["L2", "L4", *(link.link_name for link in tied), "L1"]
    assert [name for page in pages for name in names(page)] == [line[1] for line in lines] == order
    assert ['rel="next"' in page for page in pages] == [True, True, False]
    monkeypatch.setattr(link_figures, "MOST_RANKED", 4)  # of five links
    assert [names((await person.get(f"/links?sort=-clicks&page={number}")).text) for number in (1, 2)] == [
        order[:2],
        order[2:4],
    ]
    assert "Filters leave fewer." in (await person.get("/links?sort=-clicks&page=3")).text


async def test_nothing_of_another_organization(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """Neither the table nor the file shows another's links, whatever is asked for."""
    link = await make_link(database, await make_organization(), "Theirs", now, utm_campaign="theirs")
    await clicked(database, link, now)
    short_url = f"https://{link.domain}/{link.path}"
    for asked in ("sort=-clicks", "campaign=theirs", f"domain={link.domain}", "q=Theirs", f"q={short_url}"):
        assert names((await person.get(f"/links?{asked}")).text) == []
        assert len((await person.get(f"/links.csv?{asked}")).text.splitlines()) == 1
    assert LinkId(link.id) not in (await person.get("/links")).text

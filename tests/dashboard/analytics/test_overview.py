"""The overview: what came in, whether that is more than before, where from, and what to look at."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from datetime import date, datetime, timedelta
from html import unescape

import httpx
import pytest

from backend.dashboard.analytics.view import FILTERS, PRESETS, read_view
from backend.domain.clicks.clicks import NotCounted
from backend.domain.links.links import Link
from backend.storage.accounts.origin_refusals import OriginRefusal, add_origin_refusal
from backend.storage.driver.mongo import Database
from tests.api.link_calls import create
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import NOON, address, bought, clicked, figures, make_link, rows, table, words
from tests.dashboard.people import Person
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check
from tests.polling import wait_for_async


def left_to_do(page: str) -> list[str]:
    """The steps that are not done."""
    return re.findall(r'<li class="">.*?<a href="[^"]+">(.*?)</a>', page, re.DOTALL)


async def test_what_is_left_to_do(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient
) -> None:
    """Each step is ticked off once it is done; the list goes when nothing is left."""
    assert left_to_do((await person.get("/")).text) == ["A first link", "The SDK on your site"]
    await create(client, organization, link_name="The very first")
    assert left_to_do((await person.get("/")).text) == ["The SDK on your site"]
    await Visitor(client, organization).result(check())
    assert "What is left to do" not in (await person.get("/")).text


async def test_figures_and_how_they_changed(
    person: Person, database: Database, link: Link, now: datetime
) -> None:
    """Each figure has its number, and by how much it differs from the same part of the time before.

    So has each row of a table. Of a small number before, that is no percentage. A click on a figure draws it
    over time, beside the time before.
    """
    await clicked(database, link, now - timedelta(days=2), 15)
    await clicked(database, link, now - timedelta(days=8), 10)
    await clicked(
        database, link, now - timedelta(days=7) + timedelta(hours=1), 50
    )  # later on its day than now
    await bought(database, link, now, "12.50")
    await bought(database, link, now - timedelta(days=7), "9.50")
    page = (await person.get("/?period=7&chart=revenue")).text
    assert figures(page) == {
        "Clicks": ("15", "▲up 50 % against the time before: 10"),
        "Visitors": ("15", figures(page)["Visitors"][1]),
        "Leads": ("0", ""),
        "Conversions": ("1", "=the same against the time before: 1"),
        "Conversion rate": ("6.67 %", "\N{MINUS SIGN}3.33 points against the time before: 10.00 %"),
        "Revenue": ("12.50 EUR", "+3.00 against the time before: 9.50 EUR"),
    }
    campaigns = page.partition(">Campaigns</h2>")[2]
    assert rows(campaigns, with_changes=True)[0] == [
        "spring",
        "15 ▲up 50 % against the time before: 10",
        "1 =the same against the time before: 1",
        "12.50 +3.00 against the time before: 9.50 EUR",
    ]
    assert "12 Mar to 18 Mar 2026" in page
    assert "?period=7" in address(page, "Campaign")  # all rows, in the same period
    assert "A visitor is counted once on each day in UTC" in page
    days = table(page, "Over time")
    assert days[0] == ["18 Mar (partly)", "12.50", "9.50"]
    assert len(days) == 7
    assert 'data-value="9.50"' in page


def test_periods() -> None:
    """Each preset begins on its first day; that of all time on the first of which anything is known."""
    beginning = date(2025, 2, 11)
    firsts = {
        preset: read_view({"period": preset, "zone": "UTC"}, NOON, beginning, {}).period.start
        for preset in PRESETS
    }
    assert {preset: f"{first:%Y-%m-%d %H:%M}" for preset, first in firsts.items()} == {
        "today": "2026-03-18 00:00",
        "7": "2026-03-12 00:00",
        "28": "2026-02-19 00:00",
        "90": "2025-12-19 00:00",
        "month": "2026-03-01 00:00",
        "year": "2026-01-01 00:00",
        "all": "2025-02-11 00:00",
    }


def test_all_time_of_long_ago() -> None:
    """All time is as long as a period can be, where something is known of longer ago."""
    view = read_view({"period": "all", "zone": "Europe/Berlin"}, NOON, date(2012, 1, 2), {})
    assert (view.errors, view.period.days) == ({}, 3_660)


async def test_all_time(person: Person, database: Database, link: Link, now: datetime) -> None:
    """The page counts up to now, of all time from the first click on; and it says which period is chosen."""
    for days, number in ((0, 3), (400, 16)):
        await clicked(database, link, now - timedelta(days=days), number)
    page = (await person.get("/?period=all")).text
    assert figures(page)["Clicks"][0] == "19"
    assert re.findall(r'<a [^>]*aria-current="page">([^<]+)</a>', page) == ["All time"]


async def test_days_of_ones_own(person: Person, database: Database, link: Link, now: datetime) -> None:
    """Days that are typed count whole, the last one included, and stay in every address of the page."""
    for days in (10, 9, 8):
        await clicked(database, link, now - timedelta(days=days))
    page = (await person.get("/?from=2026-03-08&to=2026-03-09&compare=none")).text
    assert figures(page)["Clicks"] == ("2", "")
    assert address(page, "spring") == "/?from=2026-03-08&to=2026-03-09&compare=none&campaign=spring"
    assert address(page, "7 days") == "/?compare=none&period=7"


@pytest.mark.parametrize(
    ("since", "until", "errors"),
    [
        ("yesterday", "", {"from": "must be a day such as 2027-12-31"}),
        ("", "9999-12-31", {"to": "must be a day such as 2027-12-31"}),
        ("2026-02-01", "2026-01-01", {"to": "must not be before the first day"}),
        ("2012-01-01", "2026-01-01", {"from": "must be at most 3,660 days before to"}),
    ],
)
def test_days_that_are_none(since: str, until: str, errors: dict[str, str]) -> None:
    """A day that can't be read, or not together with the other, is named."""
    arguments = {"from": since, "to": until, "zone": "UTC"}
    assert read_view(arguments, NOON, NOON.date(), {}).errors == errors


async def test_a_page_of_days_that_are_none(person: Person) -> None:
    """Each day that can't be read is named, and the page stays usable."""
    page = await person.get("/?from=yesterday&to=9999-12-31")
    assert page.status_code == 422
    assert "First day must be a day such as 2027-12-31." in page.text
    assert "Last day must be a day such as 2027-12-31." in page.text
    assert figures(page.text)["Clicks"][0] == "0"


@pytest.mark.parametrize(
    "query",
    ["period=0&compare=x&zone=../../etc/passwd&currency=%00&chart=password&links=country&devices=__class__",
     f"period=../etc&zone=Mars/Base&country=DE&referrer=a&campaign={'x' * 9000}"],
    ids=("of the page", "of a long filter"),
)  # fmt: skip
async def test_what_addresses_make_up(person: Person, query: str) -> None:
    """Arguments that mean nothing are left out, and are in none of the page's addresses."""
    page = await person.get(f"/?{query}")
    assert page.status_code == 200
    assert "x" * 301 not in page.text
    assert "etc" not in page.text.replace("Etc/", "")
    assert "password" not in page.text


async def test_a_row_is_a_filter(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """A click on a row shows what belongs to it, filters add up, and each goes by a click.

    Clicks of links without a campaign are a row of their own, which filters as others do. Of amounts of a
    million in two currencies each stands by itself, the largest first; one alone, with its own conversions,
    is one click away.
    """
    other = await make_link(
        database, organization, "Autumn & Co", now, utm_campaign="autumn", utm_source="ads"
    )
    plain = await make_link(database, organization, "Plain", now)
    for clicked_link, number, country in (
        (link, 3, "DE"),
        (other, 2, "FR"),
        (other, 1, "DE"),
        (plain, 4, None),
    ):
        await clicked(database, clicked_link, now, number, country)
    for revenue, currency in (("1234567.89", "EUR"), ("1234567.89", "EUR"), ("5", "USD")):
        await bought(database, link, now, revenue, currency)
    page = (await person.get("/")).text
    assert figures(page)["Revenue"][0] == "2,469,136 EUR"
    assert table(page, "Campaigns") == [
        ["spring", "3", "3", "2,469,136 EUR 5.00 USD"], ["None", "4", "0", "–"], ["autumn", "3", "0", "–"]
    ]  # fmt: skip
    assert address(page, "None") == "/?campaign="
    dollars = address(page, "5.00 USD")
    assert dollars == "/?currency=USD"
    assert sorted(table((await person.get(dollars)).text, "Campaigns")) == [
        ["None", "4", "0", "0.00"], ["autumn", "3", "0", "0.00"], ["spring", "3", "1", "5.00"]
    ]  # fmt: skip
    page = (await person.get(address(page, "autumn"))).text
    assert figures(page)["Clicks"][0] == "3"
    assert [row[:2] for row in table(page, "Links")] == [["Autumn & Co", "3"]]
    assert [row[:2] for row in table(page, "Countries")] == [["FR", "2"], ["DE", "1"]]
    both = address(page, "FR")
    assert both == "/?campaign=autumn&country=FR"
    page = (await person.get(both)).text
    assert figures(page)["Clicks"][0] == "2"
    assert {"Visitors", "Conversions", "Revenue"} <= figures(page).keys()
    assert "Referrers</h2>" in page
    chips = re.findall(r'<a class="chip" href="([^"]+)">', page)
    assert [unescape(address) for address in chips] == ["/?country=FR", "/?campaign=autumn"]
    assert figures((await person.get("/?campaign=")).text)["Clicks"][0] == "4"
    page = (await person.get("/?" + "&".join(f"{field}=something" for field in FILTERS))).text
    named = re.findall(r'<a class="chip" href="[^"]+">(?:<[^>]+>)*([^<:]+):', page)
    assert {unescape(name) for name in named} == {field.label for field in FILTERS}


async def test_a_referring_site_opens(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """The hosts of a service are one row, a click on it shows the hosts, and one on a host its clicks."""
    for number, host in enumerate(("www.google.de", "google.co.uk", "m.facebook.com", "www.news.example"), 1):
        await ship(database, [click(organization.id, link.id, now, referrer_host=host)] * number)
    page = (await person.get("/")).text
    found = [["news.example", "4"], ["Facebook", "3"], ["Google", "3"]]
    assert [row[:2] for row in table(page, "Referrers")] == found
    page = (await person.get(address(page, "Google"))).text
    assert [row[:2] for row in table(page, "Referrers")] == [["google.co.uk", "2"], ["www.google.de", "1"]]
    page = (await person.get(address(page, "www.google.de"))).text
    assert figures(page)["Clicks"][0] == "1"


async def test_days_are_those_of_the_person(
    person: Person, database: Database, link: Link, now: datetime
) -> None:
    """The browser's time zone decides where a day begins, unless the address names another."""
    late = now.replace(hour=23, minute=30) - timedelta(days=1)  # today in Berlin
    await clicked(database, link, late)
    page = (await person.get("/?period=today")).text
    assert figures(page)["Clicks"][0] == "0"
    hours = [row[0] for row in table(page, "Over time")]
    assert (hours[0], hours[-1]) == ("12:00 (partly)", "00:00")
    person.client.cookies.set("waylink_zone", "Europe/Berlin")
    page = (await person.get("/?period=today")).text
    assert figures(page)["Clicks"][0] == "1"
    assert "Europe/Berlin" in page
    assert [row for row in table(page, "Over time") if row[1:] != ["0", "0"]] == [["00:00", "1", "0"]]
    assert figures((await person.get("/?period=today&zone=UTC")).text)["Clicks"][0] == "0"
    person.client.cookies.set("waylink_zone", "../../etc/passwd")
    assert (await person.get("/clicks")).status_code == 200


async def test_a_table_as_a_file(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """CSV has all rows of a table under the view's filters, exact amounts, and no formulas."""
    for number in range(9):
        made = await make_link(database, organization, f"=cmd{number}", now, utm_campaign=f"+{number}")
        await clicked(database, made, now, 1, "DE")
    await bought(database, made, now, "20000.55")
    page = (await person.get("/")).text
    assert len(table(page, "Campaigns")) == 8
    assert "/attribution?by=campaign" in page  # where the other one is
    answer = await person.get("/overview.csv?table=campaign")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="waylink-campaign.csv"'
    head, *lines = csv.reader(io.StringIO(answer.text))
    measures = ["clicks", "conversions", "conversions_EUR", "revenue_EUR"]
    assert head == ["campaign", "kind", *measures, *(f"previous_{name}" for name in measures)]
    assert {line[0] for line in lines} == {f"'+{number}" for number in range(9)}
    assert lines[0] == ["'+8", "", "1", "1", "1", "20000.55", "0", "0", "0", "0"]
    links = list(csv.reader(io.StringIO((await person.get("/overview.csv?table=link&campaign=%2B3")).text)))
    assert links[0][:3] == ["link", "link_name", "short_url"]
    assert [row[1] for row in links[1:]] == ["'=cmd3"]
    times = list(csv.reader(io.StringIO((await person.get("/overview.csv?table=time&period=7")).text)))
    assert len(times) == 8
    assert times[0][-1].startswith("previous_")
    assert (await person.get("/overview.csv?table=org_id")).status_code == 404


async def test_what_to_look_at(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """Links that stopped and refused origins are told of; what goes on, or is disabled, is not."""
    busy = await make_link(database, organization, "Goes on", now)
    off = replace(await make_link(database, organization, "Off", now), is_enabled=False)
    await database["links"].update_one({"_id": off.id}, {"$set": {"is_enabled": False}})
    for link_id in (link, busy, off):
        await clicked(database, link_id, now - timedelta(days=4), 20)
    await clicked(database, busy, now - timedelta(days=1))
    await ship(database, [click(link.org_id, link.id, now, reason=NotCounted.CRAWLER)])
    for origin, ago in (("https://new.example", 0), ("https://old.example", 9)):
        refusal = OriginRefusal(origin, "not allowed", now - timedelta(days=ago))
        await add_origin_refusal(database, organization.id, refusal)

    async def shown_news() -> list[str]:
        page = (await person.get("/")).text
        return [words(item) for item in re.findall(r"</svg>(<span>.*?</span>)</li>", page, re.S)]

    # The domain leads nowhere; its examination takes longer than the first page waits for it.
    assert await wait_for_async(shown_news, "the domain is examined", lambda news: len(news) == 3) == [
        f"{organization.domain} does not work for visitors.",
        "Spring has had no click for 3 days, after 20 in the 3 days before.",
        "https://new.example sent 1 refused call, last on 18 Mar: it is no allowed origin.",
    ]
    assert "To look at" not in (await person.get("/?campaign=spring")).text


async def test_nothing_of_another_organization(
    person: Person, database: Database, make_organization: OrganizationFactory, now: datetime
) -> None:
    """What others' links bring in is in no figure, no row and no file, also if their ids are asked for."""
    theirs = await make_organization()
    link = await make_link(database, theirs, "Secret", now, utm_campaign="secret")
    await clicked(database, link, now - timedelta(days=4), 30, "DE")
    await clicked(database, link, now, 3, "DE")
    await bought(database, link, now, "99")
    for query in ("", f"?link={link.id}"):
        page = (await person.get(f"/{query}")).text
        assert figures(page)["Clicks"][0] == "0"
        assert "Secret" not in page
        assert table(page, "Campaigns") == table(page, "Links") == []
    assert len((await person.get("/overview.csv?table=link")).text.splitlines()) == 1

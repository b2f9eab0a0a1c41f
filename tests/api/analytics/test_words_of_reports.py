"""What the words of reports mean, from calls to answers (decisions, "words-of-reports")."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import set_click_ids, set_subscription
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.analytics.test_query_sales import HOUR, answer, by_value, make_link, rows
from tests.api.apps.test_app_sales import send
from tests.api.apps.test_counted_opens import App
from tests.api.link_calls import API, create, info
from tests.api.sales.test_by_click import clicked as clicked_by
from tests.api.told_sales import SALE, tell
from tests.conftest import MovableClock
from tests.facts.clicks import click, ship
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion
from tests.polling import until


@pytest.fixture
def visitor(client: httpx.AsyncClient, organization: TestOrganization) -> Visitor:
    """A browser on the site of this test's organization."""
    return Visitor(client, organization)


def another(visitor: Visitor) -> Visitor:
    """Another browser on the same site."""
    return Visitor(visitor.client, visitor.organization)


async def clicked(visitor: Visitor, database: Database, link_id: str, number: int) -> None:
    """So many clicks on the link, just now."""
    of, now = LinkId(link_id), datetime.now(UTC) - HOUR
    await ship(database, [click(visitor.organization.id, of, now) for _ in range(number)])


async def purge(visitor: Visitor, link_id: str) -> None:
    """Delete the link for good."""
    url, headers = f"{API}/links/{link_id}?purge=true&force=true", visitor.organization.headers
    assert (await visitor.client.delete(url, headers=headers)).status_code == 204


def note(report: dict[str, Any], words: str) -> str:
    """The note that has these words; there is one."""
    [only] = [text for text in report["notes"] if words in text]
    return str(only)


async def test_customers_bought_and_contacts_are_known(visitor: Visitor) -> None:
    """Who asked for something is a contact, who bought is a customer too; each counts once."""
    await visitor.results(
        check(ago=HOUR, utm_source="a"), call("lead", customer_id="ada"), conversion(customer_id="ada")
    )
    await another(visitor).results(check(ago=HOUR, utm_source="a"), call("lead", customer_id="bob"))
    await another(visitor).results(check(ago=HOUR, utm_source="b"), call("lead", customer_id="bob"))
    await another(visitor).results(call("identify", customer_id="eve"))
    for rules in ({}, {"credit": "customer", "model": "first"}):
        report = await answer(visitor, "customers", "contacts", group_by=["source"], **rules)
        assert report["totals"] == {"customers": 1, "contacts": 2}, rules
        assert by_value(report, "source")["a"] == {"customers": 1, "contacts": 2}, rules
    assert (await answer(visitor, "customers"))["rows"] == [{"customers": 1}]


async def test_what_no_touch_led_to_has_a_row_of_its_own(visitor: Visitor) -> None:
    """It is told apart from a touch that has no such value, in rows, files and by filters."""
    await visitor.results(conversion(ago=2 * HOUR, revenue=1), check(ago=HOUR, utm_source="ads"))
    await visitor.results(conversion(revenue=2))
    await another(visitor).results(check(ago=HOUR, utm_medium="mail"), conversion(revenue=4))
    report = await answer(visitor, "conversions", "revenue", group_by=["source"], currency="EUR")
    assert report["rows"] == [
        {"source": "ads", "conversions": 1, "revenue": "2.00"},
        {"source": None, "conversions": 1, "revenue": "4.00"},
        {"source": None, "kind": "not_credited", "conversions": 1, "revenue": "1.00"},
    ]
    assert "no link, campaign or ad led to it" in note(report, "kind not_credited")
    export = {
        "measures": "conversions",
        "group_by": "source",
        "currency": "EUR",
        "to": str(utc_now().date() + timedelta(days=1)),
    }
    file = await visitor.client.get(
        f"{API}/analytics/export", params=export, headers=visitor.organization.headers
    )
    assert file.text.split() == ["source,kind,conversions", "ads,,1", ",,1", ",not_credited,1"]
    only = await answer(
        visitor, "conversions", group_by=["source"], filters={"source": [None]}, currency="EUR"
    )
    assert only["rows"] == [{"source": None, "conversions": 1}]
    assert only["totals"] == {"conversions": 1}


async def test_sales_of_purged_links_have_a_row_of_their_own(visitor: Visitor, database: Database) -> None:
    """Whatever their visits said: neither "no touch" nor another link of that campaign. A note says so."""
    link_id = await make_link(visitor, utm_campaign="spring")
    await clicked(visitor, database, link_id, 2)
    signals = {"cl_link_id": link_id, "utm_campaign": "spring"}
    await visitor.results(conversion(ago=2 * HOUR), check(ago=HOUR, **signals), conversion(), call("lead"))
    measures = ("clicks", "leads", "conversions")
    customers: dict[str, str] = {"credit": "customer", "model": "linear"}
    ways = list(product(("link", "campaign", "domain", "tag"), ({}, customers)))
    befores = [await rows(visitor, field, *measures, **rules) for field, rules in ways]
    await purge(visitor, link_id)
    for (field, rules), before in zip(ways, befores, strict=True):
        await assert_purged(visitor, field, rules, before)


async def assert_purged(
    visitor: Visitor, field: str, rules: dict[str, str], before: dict[str | None, dict[str, Any]]
) -> None:
    """Rows by a field before and after the purge of the one link."""
    measures = ("clicks", "leads", "conversions")
    report = await answer(visitor, *measures, group_by=[field], **rules)
    after = by_value(report, field)
    by_kind = {name: {measure: row[measure] for measure in measures} for name, row in after.items()}
    nobody = {"clicks": 0, "leads": 0, "conversions": 1}
    assert by_kind == {
        "not_credited": nobody,
        "purged_links": {"clicks": 0, "leads": 1, "conversions": 1},
    }
    del before["not_credited"]
    assert [[row[measure] for measure in measures] for row in before.values()] == [[2, 1, 1]]
    assert "their clicks are in the totals only" in note(report, "kind purged_links")
    assert [report["totals"][measure] for measure in ("clicks", "conversions")] == [2, 2]


async def test_rates_are_of_what_came_of_links(visitor: Visitor, database: Database) -> None:
    """Sales without a touch, and those of ads, whose clicks nobody counts, are in no rate; a note tells."""
    link_id = await make_link(visitor, utm_campaign="spring")
    await clicked(visitor, database, link_id, 4)
    await visitor.results(conversion(ago=2 * HOUR, revenue=7), check(ago=HOUR, cl_link_id=link_id))
    await visitor.results(conversion(revenue=1))
    await another(visitor).results(check(ago=HOUR, utm_campaign="spring"), conversion(revenue=3))
    rates = ("conversions", "conversion_rate", "revenue_per_click")
    for rules in ({}, {"credit": "customer"}):
        report = await answer(visitor, *rates, currency="EUR", **rules)
        assert report["totals"] == {
            "conversions": 3, "conversion_rate": 0.25, "revenue_per_click": "0.250000",
        }  # fmt: skip
        assert note(report, "came of no link").startswith(
            "2 of 3 conversions came of no link: they are in no rate"
        )
        by_campaign = await rows(visitor, "campaign", *rates, currency="EUR", **rules)
        assert by_campaign == {
            "spring": {"conversions": 2, "conversion_rate": 0.25, "revenue_per_click": "0.250000"},
            "not_credited": {"conversions": 1, "conversion_rate": None, "revenue_per_click": None},
        }
    by_day = await answer(visitor, "conversion_rate", group_by=["month"])
    assert [row["conversion_rate"] for row in by_day["rows"] if row["conversion_rate"]] == [0.25]


async def test_a_currency_divides_conversions_too(visitor: Visitor, database: Database) -> None:
    """With it, what was sold in others is in no figure, and a note says how much that is; leads count."""
    link_id = await make_link(visitor)
    await clicked(visitor, database, link_id, 4)
    await visitor.results(
        check(ago=HOUR, cl_link_id=link_id),
        conversion(revenue=10, customer_id="ada"),
        conversion(revenue=500, currency="JPY", customer_id="ada"),
        conversion(revenue=700, currency="JPY", customer_id="bob"),
        call("lead", customer_id="eve"),
    )
    measures = (
        "leads",
        "conversions",
        "customers",
        "contacts",
        "revenue",
        "conversion_rate",
        "revenue_per_click",
    )
    for rules in ({}, {"model": "linear"}):
        report = await answer(visitor, *measures, currency="EUR", group_by=["link"], **rules)
        assert report["totals"] == {
            "leads": 1, "conversions": 1, "customers": 1, "contacts": 2, "revenue": "10.00",
            "conversion_rate": 0.25, "revenue_per_click": "2.500000",
        }  # fmt: skip
        assert len(report["rows"]) == 1
        assert (
            note(report, "currencies")
            == "Conversions in other currencies than EUR are in no figure (JPY: 2)."
        )
    report = await answer(visitor, *measures, group_by=["link"])
    assert (report["totals"]["conversions"], report["totals"]["customers"]) == (3, 2)
    assert [amount["currency"] for amount in report["rows"][0]["revenue"]] == ["EUR", "JPY"]
    counts = [{"currency": "EUR", "conversions": 1}, {"currency": "JPY", "conversions": 2}]
    assert [figures["conversions_by_currency"] for figures in (report["totals"], *report["rows"])] == [
        counts
    ] * 2
    assert not any("currencies" in text for text in report["notes"])
    only = await answer(visitor, "conversions", currency="USD", group_by=["link"])
    assert (only["rows"], only["totals"]) == ([], {"conversions": 0})
    assert "(EUR: 1, JPY: 2)" in note(only, "currencies")


async def test_what_is_compared_is_said(visitor: Visitor) -> None:
    """Whole months with calendar months, days with days, a year by weekdays; the answer says the time."""
    for query, period, said in (
        (
            {"from": "2026-03-01", "to": "2026-04-01"},
            ("2026-02-01", "2026-03-01"),
            "the calendar month before",
        ),
        ({"from": "2026-03-02", "to": "2026-03-09"}, ("2026-02-23", "2026-03-02"), "the 7 days before"),
        (
            {"from": "2028-02-29", "to": "2028-03-01", "compare": "year"},
            ("2027-03-02", "2027-03-03"),
            "the same weekdays 52 weeks before",
        ),
        (
            {"from": "2028-02-01", "to": "2028-03-01", "compare": "year"},
            ("2027-02-01", "2027-03-01"),
            "the same calendar months a year before",
        ),
    ):
        for group_by in ([], ["day"], ["month"]):
            report = await answer(visitor, "clicks", group_by=group_by, **{"compare": "previous"} | query)
            compared = report["previous_period"]
            assert (compared["from"][:10], compared["to"][:10]) == period
            assert note(report, "Compared with").startswith(f"Compared with {said}")


async def test_days_that_no_month_is_compared_with(visitor: Visitor, database: Database) -> None:
    """What January has more than February is in the totals of the time before, and in no row."""
    link_id = LinkId(await make_link(visitor))
    days = [datetime(2026, 1, day, 12, tzinfo=UTC) for day in (28, 29, 31)]
    await ship(database, [click(visitor.organization.id, link_id, at) for at in days])
    february = {"from": "2026-02-01", "to": "2026-03-01", "compare": "previous"}
    report = await answer(visitor, "clicks", group_by=["day"], **february)
    assert len(report["rows"]) == 28
    assert [row["previous"]["clicks"] for row in report["rows"]] == [0] * 27 + [1]
    assert report["totals"]["previous"] == {"clicks": 3}
    assert "what it has more is in the totals only" in note(report, "Compared with")
    [month] = (await answer(visitor, "clicks", group_by=["month"], **february))["rows"]
    assert month["previous"] == {"clicks": 3}


async def test_parts_of_the_time_that_are_not_all_there_are_marked(
    visitor: Visitor, clock: MovableClock
) -> None:
    """The first and last week, and today while it lasts; in files too, and a note names them."""
    clock.offset = datetime(2026, 3, 4, 15, tzinfo=UTC) - utc_now()  # a Wednesday
    weeks = {"from": "2026-02-12", "to": "2026-03-05", "group_by": ["week"]}
    report = await answer(visitor, "clicks", **weeks)
    assert report["rows"] == [
        {"week": "2026-02-09", "partial": True, "clicks": 0},
        {"week": "2026-02-16", "clicks": 0},
        {"week": "2026-02-23", "clicks": 0},
        {"week": "2026-03-02", "partial": True, "clicks": 0},
    ]
    assert note(report, "Only a part").endswith("not over: 2026-02-09, 2026-03-02.")
    days = await answer(visitor, "clicks", **weeks | {"group_by": ["day"]})
    assert [row["day"] for row in days["rows"] if row.get("partial")] == ["2026-03-04"]
    link_id = await make_link(visitor)
    await visitor.results(check(cl_link_id=link_id), conversion())
    by_link = await answer(visitor, "conversions", **weeks | {"group_by": ["link", "week"]})
    assert by_link["rows"][0]["partial"] is True
    file = await visitor.client.get(
        f"{API}/analytics/export",
        params=weeks | {"group_by": "week"},
        headers=visitor.organization.headers,
    )
    assert file.text.split()[:3] == ["week,partial,clicks", "2026-02-09,true,0", "2026-02-16,,0"]


async def test_as_of_counts_to_the_millisecond(visitor: Visitor) -> None:
    """What was told at that moment does not count, what was told a millisecond before does; notes say it."""
    await visitor.result(conversion(transaction_id="order"))
    headers = visitor.organization.headers
    url = f"{API}/conversions/order/explain"
    told = datetime.fromisoformat((await visitor.client.get(url, headers=headers)).json()["received_at"])
    for later, count in ((timedelta(), 0), (timedelta(milliseconds=1), 1)):
        at = (told + later).astimezone(UTC)
        report = await answer(visitor, "conversions", as_of=at.isoformat())
        assert report["totals"]["conversions"] == count
        shown = at.replace(tzinfo=None).isoformat(" ", "auto")
        assert f"as it stood before {shown} UTC" in note(report, "as it stood")
    report = await answer(visitor, "conversions", as_of="2026-03-01T12:00Z")
    assert "as it stood before 2026-03-01 12:00 UTC" in note(report, "as it stood")


async def test_browsers_that_a_click_names_are_identities(visitor: Visitor) -> None:
    """One for each click and customer that a server names together, besides the customer's own devices."""
    client, of = visitor.client, visitor.organization
    signals = await clicked_by(client, of)
    for order, customer, identities in (("1", None, 0), ("2", "ada", 1), ("3", "ada", 1), ("4", "bob", 2)):
        sale = SALE | {"transaction_id": order, "click_id": signals["cl_click_id"]}
        await tell(client, of, "conversions", sale | ({"customer_id": customer} if customer else {}))
        assert (await answer(visitor, "identities"))["totals"] == {"identities": identities}
    await visitor.results(check(**signals), call("identify", customer_id="ada"))
    [row] = (await answer(visitor, "identities", group_by=["link"]))["rows"]
    assert (row["link"], row["identities"]) == (signals["cl_link_id"], 3)


async def test_an_install_counts_when_the_app_was_opened_first(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """On the day of the first launch, though it arrives later; if that can't be believed, when it arrives."""
    await set_subscription(database, organization.id, utc_now() + timedelta(days=1))
    now = utc_now()
    times = {days: now - timedelta(days=days) for days in (3, 40)}
    for days, more in ((3, {"sent_at": now.isoformat()}), (3, {}), (40, {})):
        app = App(client, organization)
        for _ in range(2):
            await app.open(is_first_launch=True, occurred_at=times[days].isoformat(), **more)
    await app.open(is_first_launch=False)
    rows = await app.figures("installs", group_by=["day"])
    assert {row["day"]: row["installs"] for row in rows if row["installs"]} == {
        f"{times[3]:%Y-%m-%d}": 2, f"{now:%Y-%m-%d}": 1,
    }  # fmt: skip


@pytest.mark.parametrize("has_click_ids", [True, False])
async def test_a_sale_after_an_open_of_an_app(
    client: httpx.AsyncClient, service: Service, organization: TestOrganization, *, has_click_ids: bool
) -> None:
    """It came of the link, and has what is known of the open if the organization has click ids."""
    await set_click_ids(service.resources.database, organization.id, has_click_ids)
    signing = service.resources.click_signing
    await until(lambda: (signing.key_for(organization.id) is not None) is has_click_ids, "not read")
    app = App(client, organization)
    link_id = (await info(client, organization, await create(client, organization)))["id"]
    await app.open(link_id=link_id, platform="ios")
    await send(app, conversion(revenue=20))
    [row] = await app.figures("opens", "conversions", "conversion_rate", group_by=["link"])
    assert (row["opens"], row["conversions"], row["conversion_rate"]) == (1, 1, 1.0)
    rows = await app.figures("conversions", group_by=["outcome", "system"])
    [sale] = [row for row in rows if row["conversions"]]
    assert (sale["outcome"], sale["system"]) == (("app", "iOS") if has_click_ids else (None, None))

"""The demo organization's made-up past: stored once, the way clicks and sales are stored, and removable."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Measure, Query
from backend.domain.clicks.clicks import Click
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import DeviceId, LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.links.tags import PALETTE
from backend.domain.visitors.attribution import source_of
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Kind, parse_call
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.click_windows import ClicksOfLinks, ClickWindow
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle import demo_clicks
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.lifecycle.demo_history import IsAddedUp, find_history_links
from backend.storage.links.tags import create_tag, find_tag, list_tags
from backend.storage.outbox import entries, heads
from backend.storage.sales.batches import store_batches
from backend.storage.schema.ownership import ByLink
from demo_site.history.catalogue import DOMAINS, MAIN, MOST_LINKS, TAGS, planned_links
from demo_site.history.days import History, UsedLink
from demo_site.history.make import make_history, unmake_history
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.organizations import TestOrganization
from tests.facts.replayed_links import replayed, stored
from tests.facts.stored_links import insert_links

NOW = datetime(2026, 11, 22, 15, 20, tzinfo=UTC)
SHOP = "http://localhost:8081"
DAYS, LINKS = 9, 24


@pytest.fixture
async def org_id(database: Database, organization: TestOrganization) -> AsyncIterator[OrgId]:
    """An organization that may have the domains of the demo's history."""
    yield organization.id
    await database["domains"].delete_many({"_id": {"$in": DOMAINS}})
    await database["links"].delete_many({"domain": {"$in": DOMAINS}})


def nothing(_done: int, _steps: int) -> None:
    """Shows no progress."""


async def make(
    database: Database, org_id: OrgId, now: datetime = NOW, progress: Callable[[int, int], None] = nothing
) -> None:
    """Make a small history."""
    await make_history(database, org_id, SHOP, now, progress, days=DAYS, links=LINKS)


def drawn(days: int = 14, links: int = MOST_LINKS) -> History:
    """A history that is stored nowhere."""
    begin = date(2026, 9, 7)  # a Monday
    made = [
        UsedLink(plan, _link(OrgId("org"), plan.domain, plan.path, utm=plan.utm))
        for plan in planned_links(begin, links)
    ]
    return History("0a1b2c3d", begin, made)


def _link(org_id: OrgId, domain: str, path: str, **fields: Any) -> Link:
    return Link(
        LinkId(str(uuid.uuid4())), org_id, domain, path, "https://a.example/", "A link", NOW, NOW, **fields
    )


async def documents(database: Database, org_id: OrgId) -> Counter[str]:
    """How many documents the organization has in each collection of its history, but for its feed.

    That tells also what went, and never gets shorter.
    """
    found = {
        name: each.owned_by.condition(org_id) if not isinstance(each.owned_by, ByLink) else {"org_id": org_id}
        for name, each in archived_collections().items()
        if name not in {entries.NAME, heads.NAME}
    }
    return Counter({name: await database[name].count_documents(query) for name, query in found.items()})


async def counts(analytics: Analytics, org_id: OrgId) -> dict[LinkId, int]:
    """The clicks of each link, as analytics has them."""
    return await analytics.ask(org_id, ClicksOfLinks(NOW - timedelta(days=999)))


async def test_what_was_drawn_is_counted(database: Database, analytics: Analytics, org_id: OrgId) -> None:
    """The clicks of each link are those in the blocks, of each day up to the last whole hour."""
    await make(database, org_id)
    clicks = await recorded_clicks(database, org_id)
    counted = Counter(each.link_id for each in clicks if each.counted)
    assert counted.total() > 100
    assert await counts(analytics, org_id) == counted
    assert {each.at.date() for each in clicks} == {
        (NOW - timedelta(days=day)).date() for day in range(DAYS + 1)
    }
    assert max(each.at for each in clicks) < NOW.replace(minute=0)
    assert {each.reason for each in clicks} > {None, "crawler", "preview_fetcher"}


async def test_sales_are_attributed_to_links(database: Database, analytics: Analytics, org_id: OrgId) -> None:
    """Leads and sales are credited to links of the history, and to nothing else."""
    await make(database, org_id)
    links = {each.id for each in await find_history_links(database, org_id)}
    period = QueryPeriod(NOW.replace(minute=0) - timedelta(days=DAYS), NOW.replace(minute=0), UTC)
    measures = (Measure.LEADS, Measure.CONVERSIONS, Measure.CONTACTS)
    asked = Query(period=period, measures=measures, group_by=(Field.LINK,))
    found = await analytics.ask(org_id, AskQuery(asked, is_whole=True))
    assert {row.group[0] for row in found.rows} <= links
    assert all(found.totals.values[each] for each in measures)
    assert all(row.values[Measure.CONTACTS] for row in found.rows)


async def test_links_have_tags(database: Database, analytics: Analytics, org_id: OrgId) -> None:
    """Each link has those of its plan, in their colours, and clicks are counted by them."""
    await make(database, org_id)
    tags = {each.id: each for each in await list_tags(database, org_id)}
    assert {each.color for each in tags.values()} <= {PALETTE[color] for color in TAGS.values()}
    links = await find_history_links(database, org_id)
    assert {tags[each].name for link in links for each in link.tag_ids} > {"Newsletter", "Print"}
    until = NOW.replace(minute=0)
    asked = Query(period=QueryPeriod(until - timedelta(days=DAYS), until, UTC), group_by=(Field.TAG,))
    rows = (await analytics.ask(org_id, AskQuery(asked))).rows
    assert {row.group[0] for row in rows} <= {each.name for each in tags.values()}
    assert all(row.values[Measure.CLICKS] for row in rows)


async def test_a_second_start_adds_nothing_twice(database: Database, org_id: OrgId) -> None:
    """The same hour again adds nothing; a later start adds the hours in between, and changes none before."""
    await make(database, org_id)
    before = await documents(database, org_id)
    clicks = await recorded_clicks(database, org_id)
    await make(database, org_id)
    assert await documents(database, org_id) == before
    await make(database, org_id, NOW + timedelta(days=2))
    later = await recorded_clicks(database, org_id)
    assert later[: len(clicks)] == clicks
    assert later[len(clicks)].at >= NOW.replace(minute=0)
    assert later[-1].at.date() == date(2026, 11, 24)


async def test_nothing_is_made_in_the_future(database: Database, org_id: OrgId) -> None:
    """Links of campaigns that begin in the next days are prepared by now, not made later than now."""
    await make_history(database, org_id, "http://localhost:8081", NOW, lambda *_: None, days=1)
    links = await find_history_links(database, org_id)
    assert max(max(each.created_at, each.modified_at) for each in links) <= NOW


async def test_an_interrupted_history_goes_on(
    database: Database, analytics: Analytics, org_id: OrgId
) -> None:
    """Who stops it half-way and starts again has each click and each sale once."""

    def stop_half_way(done: int, _steps: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await make(database, org_id, progress=stop_half_way)
    await make(database, org_id)
    clicks = await recorded_clicks(database, org_id)
    counted = Counter(each.link_id for each in clicks if each.counted)
    assert len({(each.at, each.link_id, each.visitor) for each in clicks}) == len(clicks)
    assert await counts(analytics, org_id) == counted
    stored = [each async for each in database["conversions"].find({"org_id": org_id})]
    assert len({each["transaction_id"] for each in stored}) == len(stored) > 0


async def test_it_is_removed_and_leaves_what_others_made(
    database: Database, analytics: Analytics, org_id: OrgId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links, clicks, leads and sales of the history go; an own link keeps its clicks and sale.

    So analytics has it, and after an interruption the next removal goes on.
    """
    own = _link(org_id, MAIN, "own", utm={"utm_campaign": "mine"})
    await insert_links(database, [own])
    await database["domains"].insert_one({"_id": MAIN, "org_id": org_id, "created_at": NOW})
    clicks = [click(org_id, own.id, NOW - timedelta(hours=hour), visitor=hour) for hour in range(30)]
    await ship(database, clicks)
    await _buy(database, own)
    await create_tag(database, org_id, "newsletter", None, NOW)
    before = await documents(database, org_id)
    await make(database, org_id)
    links = await find_history_links(database, org_id)
    await ship(database, [_of(links[0], clicks[0])])
    taken = await find_tag(database, org_id, "Partners")
    await database["links"].update_one({"_id": own.id}, {"$set": {"tag_ids": [taken.id]}})
    [emptied, *_] = [each for each in DOMAINS if each != MAIN]
    await database["apps"].insert_one({"_id": emptied, "org_id": org_id})

    assert len(await counts(analytics, org_id)) > 1

    monkeypatch.setattr(demo_clicks, "_remove_from", _until(3))
    with pytest.raises(KeyboardInterrupt):
        await unmake_history(database, org_id, NOW)
    monkeypatch.undo()
    removed = await unmake_history(database, org_id, NOW)

    assert (removed.links, removed.clicks > 100, removed.conversions > 0) == (LINKS, True, True)
    assert await recorded_clicks(database, org_id) == sorted(clicks, key=lambda each: each.at)
    assert await counts(analytics, org_id) == {own.id: 30}
    assert (await analytics.ask(org_id, ClickWindow(own.id, NOW))).total == 30
    after = await documents(database, org_id)
    assert after.pop("purged_links") == LINKS  # archives may name them
    assert [each.name for each in await list_tags(database, org_id)] == ["newsletter", "Partners"]
    assert after == before + Counter(tags=1)
    assert set(await list_domains(database, org_id)) & set(DOMAINS) == {MAIN}
    await database["domains"].insert_one({"_id": emptied, "org_id": org_id, "created_at": NOW})
    assert (await unmake_history(database, org_id, NOW)).links == 0
    assert emptied not in await list_domains(database, org_id)  # as an interruption may have left it


async def test_it_can_be_made_again(database: Database, org_id: OrgId) -> None:
    """After it was removed, it is made anew, and its sales count again. The feed tells each of its links."""
    await make(database, org_id)
    before = await documents(database, org_id)
    assert await replayed(database, org_id) == await stored(database, org_id)
    await unmake_history(database, org_id, NOW)
    assert await replayed(database, org_id) == await stored(database, org_id) == ({}, {})
    await make(database, org_id)
    assert await replayed(database, org_id) == await stored(database, org_id)
    after = await documents(database, org_id)
    assert after.pop("purged_links") == LINKS
    assert after == before


async def test_it_stays_once_days_are_added_up(database: Database, org_id: OrgId) -> None:
    """Clicks can't be taken out of what was added up; days that have none of the history don't matter."""
    own = _link(org_id, MAIN, "own")
    await ship(database, [click(org_id, own.id, NOW - timedelta(days=90))])
    await make(database, org_id)
    await set_click_days(database, org_id, 35)
    assert await sum_expired(database, org_id, NOW) == 1
    await unmake_history(database, org_id, NOW)
    await make(database, org_id)
    assert await sum_expired(database, org_id, NOW + timedelta(days=40)) > 1
    before = await documents(database, org_id)
    with pytest.raises(IsAddedUp, match="click-retention"):
        await unmake_history(database, org_id, NOW + timedelta(days=40))
    assert await documents(database, org_id) == before


async def test_a_block_that_is_merged_meanwhile(
    database: Database, org_id: OrgId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of it is not stored: its clicks are found in the one that has them now."""
    mine, others = LinkId("mine"), LinkId("others")
    for hour in range(2):
        await ship(database, [click(org_id, each, NOW - timedelta(hours=hour)) for each in (mine, others)])
    remove_from = demo_clicks._remove_from

    async def merge_first(*given: Any) -> int:
        monkeypatch.undo()
        assert await merge_small_blocks(database, org_id) == 1
        return await remove_from(*given)

    monkeypatch.setattr(demo_clicks, "_remove_from", merge_first)
    assert await demo_clicks.remove_clicks(database, org_id, {mine}) == 2
    assert [each.link_id for each in await recorded_clicks(database, org_id)] == [others] * 2


async def test_links_lead_to_the_shop_of_today(database: Database, org_id: OrgId) -> None:
    """If the shop is at another port at a later start, the links lead there, each to its page."""
    await make(database, org_id)
    pages = {
        each.id: each.destination_url.removeprefix(SHOP)
        for each in await find_history_links(database, org_id)
    }
    await make_history(database, org_id, "http://localhost:9999", NOW, nothing)
    links = await find_history_links(database, org_id)
    assert {each.id: each.destination_url for each in links} == {
        link_id: f"http://localhost:9999{page}" for link_id, page in pages.items()
    }


def test_three_hundred_links_with_names_of_campaigns() -> None:
    """The catalogue has 300 links at different addresses, all with source, medium and campaign."""
    links = planned_links(date(2026, 9, 23))
    assert len({(each.domain, each.path) for each in links}) == len(links) == MOST_LINKS == 300
    assert {each.domain for each in links} == set(DOMAINS)
    assert all({"utm_source", "utm_medium", "utm_campaign"} <= each.utm.keys() for each in links)
    assert len({each.utm["utm_campaign"] for each in links}) > 20
    assert {tag for each in links for tag in each.tags} == TAGS.keys()
    assert all(each.path == each.path.lower() and " " not in each.path for each in links)


def test_the_seed_gives_the_same_again() -> None:
    """Two histories of the same run have the same clicks and calls, hour by hour."""
    first, second = drawn(links=20), drawn(links=20)
    hours = range(24, 48)
    assert [_facts(each) for each in first.clicks(hours)] == [_facts(each) for each in second.clicks(hours)]
    sent = first.batches(hours)
    assert [each.device_id for each in sent] == [each.device_id for each in second.batches(hours)]
    assert all(
        is_uuid(each) and each.startswith("0a1b2c3d-") for each in (str(each.device_id) for each in sent)
    )


def test_sales_are_in_two_currencies() -> None:
    """Visitors from America pay in dollars, others in euros."""
    sent = drawn().batches(range(24 * 4))
    sales = [each.call for batch in sent for each in batch.calls if each.call.kind is Kind.CONVERSION]
    assert {each.fields["currency"] for each in sales} == {"EUR", "USD"}


def test_weeks_have_a_rhythm() -> None:
    """Tuesdays, when the newsletter goes out, are busier than Sundays; evenings are busier than nights."""
    clicks = drawn().clicks(range(14 * 24))
    days = Counter(each.at.weekday() for each in clicks)
    hours = Counter(each.at.hour for each in clicks)
    assert days[1] > 1.5 * days[6]
    assert hours[19] > 4 * hours[2]


def _facts(each: Click) -> tuple[object, ...]:
    return each.at, each.reason, each.browser, each.country, each.referrer_host, each.visitor


def _of(link: Link, each: Click) -> Click:
    """This click, on another link."""
    return click(link.org_id, link.id, each.at, visitor=each.visitor)


def _until(number: int) -> Callable[..., Awaitable[int]]:
    """Takes clicks out of blocks, until it is stopped before this one."""
    left, remove_from = iter(range(number - 1)), demo_clicks._remove_from

    async def remove(*given: Any) -> int:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return await remove_from(*given)

    return remove


async def _buy(database: Database, link: Link) -> None:
    """A visitor of the link buys something."""
    shared = {"occurred_at": NOW.isoformat()}
    touch = parse_call({"kind": "attribution", "call_id": str(uuid.uuid4())} | shared)
    sale = parse_call(
        {"kind": "conversion", "call_id": str(uuid.uuid4()), "revenue": 10, "currency": "EUR",
         "customer_id": "ada", "transaction_id": "order-1"} | shared
    )  # fmt: skip
    calls = (ArrivedCall(touch, source_of({}, link)), ArrivedCall(sale))
    await store_batches(database, [Batch(link.org_id, DeviceId(str(uuid.uuid4())), NOW, NOW, calls)])

"""The demo's made-up past: stored once, the way clicks and sales are stored, and deleted whole."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Query
from backend.domain.clicks.clicks import Click
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.links.tags import PALETTE
from backend.domain.visitors.calls import Kind
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.analytics.clicks.click_windows import ClicksOfLinks
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.costs.costs import CostFilter, list_costs
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle import organization_deletion
from backend.storage.lifecycle.collections import archived_collections
from backend.storage.lifecycle.demo_history import find_history_links
from backend.storage.links.tags import list_tags
from backend.storage.outbox import entries, heads
from backend.storage.resources.things import Things
from backend.storage.schema.ownership import ByLink
from backend.system.clock import utc_now
from demo_site.demo_user import EMAIL, prepare_user
from demo_site.history.catalogue import DOMAINS, MOST_LINKS, TAGS, planned_links
from demo_site.history.days import History, UsedLink
from demo_site.history.make import make_history
from demo_site.history.organization import delete_history, history_organization
from tests.facts.clicks import click, recorded_clicks, ship
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.facts.replayed_links import replayed, stored
from tests.facts.stored_links import insert_links

NOW = datetime(2026, 11, 22, 15, 20, tzinfo=UTC)
SHOP = "http://localhost:8081"
DAYS, LINKS = 9, 24


async def free_domains(database: Database) -> None:
    """Let another organization have the domains of the demo's history."""
    await database["domains"].delete_many({"_id": {"$in": DOMAINS}})
    await database["links"].delete_many({"domain": {"$in": DOMAINS}})


@pytest.fixture(scope="module")
async def made(database: Database) -> OrgId:
    """An organization with a small history. Tests look at it and go on with it before others make one."""
    org_id = (await create_test_organization(database)).id
    await make(database, org_id)
    return org_id


@pytest.fixture
async def org_id(database: Database, organization: TestOrganization) -> AsyncIterator[OrgId]:
    """An organization that may have the domains of the demo's history."""
    await free_domains(database)
    yield organization.id
    await free_domains(database)


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
    return History("0a1b2c3d", begin, made, b"key")


def _link(org_id: OrgId, domain: str, path: str, **fields: Any) -> Link:
    return Link(
        LinkId(str(uuid.uuid4())), org_id, domain, path, "https://a.example/", "A link", NOW, NOW, **fields
    )


async def documents(database: Database, org_id: OrgId) -> Counter[str]:
    """How many documents the organization has in each collection of its history, but for its feed.

    That tells also what went, and never gets shorter.
    """
    conditions = {
        name: collection.owned_by.condition(org_id)
        if not isinstance(collection.owned_by, ByLink)
        else {"org_id": org_id}
        for name, collection in archived_collections().items()
        if name not in {entries.NAME, heads.NAME}
    }
    return Counter({name: await database[name].count_documents(query) for name, query in conditions.items()})


async def seen_organizations(database: Database) -> tuple[OrgId, ...]:
    """The organizations that the demo's user acts for, in the order in which they are shown."""
    user = await find_user_by_email(database, EMAIL)
    assert user
    return user.org_ids


async def counts(analytics: Analytics, org_id: OrgId) -> dict[LinkId, int]:
    """The clicks of each link, as analytics has them."""
    return await analytics.ask(org_id, ClicksOfLinks(NOW - timedelta(days=999)))


async def test_what_was_drawn_is_counted(database: Database, analytics: Analytics, made: OrgId) -> None:
    """The clicks of each link are those in the blocks, of each day up to the last whole hour."""
    clicks = await recorded_clicks(database, made)
    counted = Counter(visit.link_id for visit in clicks if visit.counted)
    assert counted.total() > 100
    assert await counts(analytics, made) == counted
    assert {visit.at.date() for visit in clicks} == {
        (NOW - timedelta(days=day)).date() for day in range(DAYS + 1)
    }
    assert max(visit.at for visit in clicks) < NOW.replace(minute=0)
    assert {visit.reason for visit in clicks} > {None, "crawler", "preview_fetcher"}


async def test_sales_are_attributed_to_links(database: Database, analytics: Analytics, made: OrgId) -> None:
    """Leads and sales are credited to clicks on links of the history, and to nothing else."""
    links = {link.id for link in await find_history_links(database, made)}
    period = QueryPeriod(NOW.replace(minute=0) - timedelta(days=DAYS), NOW.replace(minute=0), UTC)
    measures = (Measure.LEADS, Measure.CONVERSIONS, Measure.CONTACTS)
    asked = Query(period=period, measures=measures, group_by=(Field.LINK,))
    answer = await analytics.ask(made, AskQuery(asked, is_whole=True))
    assert {row.group[0] for row in answer.rows} <= links
    assert all(answer.totals.values[measure] for measure in measures)
    assert all(row.values[Measure.CONTACTS] for row in answer.rows)
    by_platform = await analytics.ask(made, AskQuery(replace(asked, group_by=(Field.PLATFORM,))))
    assert {row.group[0] for row in by_platform.rows} == {"android", "desktop", "ios"}


async def test_links_have_tags(database: Database, analytics: Analytics, made: OrgId) -> None:
    """Each link has those of its plan, in their colours, and clicks are counted by them."""
    tags = {tag.id: tag for tag in await list_tags(database, made)}
    assert {tag.color for tag in tags.values()} <= {PALETTE[color] for color in TAGS.values()}
    links = await find_history_links(database, made)
    assert {tags[tag_id].name for link in links for tag_id in link.tag_ids} > {"Newsletter", "Print"}
    until = NOW.replace(minute=0)
    asked = Query(period=QueryPeriod(until - timedelta(days=DAYS), until, UTC), group_by=(Field.TAG,))
    rows = (await analytics.ask(made, AskQuery(asked))).rows
    assert {row.group[0] for row in rows} <= {tag.name for tag in tags.values()}
    assert all(row.values[Measure.CLICKS] for row in rows)


async def test_paid_campaigns_have_costs(database: Database, made: OrgId) -> None:
    """Of each day before today, once; what is not paid for has none."""
    costs = [cost.told for cost in await list_costs(database, made, CostFilter(), limit=1000)]
    campaigns = {cost.campaign for cost in costs}
    assert campaigns
    assert len(costs) == len(campaigns) * DAYS
    assert not any(campaign.startswith("newsletter") for campaign in campaigns)


async def test_a_funnel_is_saved(database: Database, made: OrgId) -> None:
    """From a click to a sale."""
    [saved] = await Things(SAVED_FUNNELS).list(database, made)
    assert [step.kind for step in saved.funnel.steps] == ["click", "event", "conversion"]


async def test_a_second_start_adds_nothing_twice(database: Database, made: OrgId) -> None:
    """The same hour again adds nothing, no cost and no funnel either; a later start adds the hours in
    between, and changes none before."""
    before = await documents(database, made)
    assert min(before["costs"], before["funnels"]) > 0
    clicks = await recorded_clicks(database, made)
    await make(database, made)
    assert await documents(database, made) == before
    await make(database, made, NOW + timedelta(days=2))
    later = await recorded_clicks(database, made)
    assert later[: len(clicks)] == clicks
    assert later[len(clicks)].at >= NOW.replace(minute=0)
    assert later[-1].at.date() == date(2026, 11, 24)


async def test_links_lead_to_the_shop_of_today(database: Database, made: OrgId) -> None:
    """If the shop is at another port at a later start, the links lead there, each to its page."""
    pages = {
        link.id: link.destination_url.removeprefix(SHOP) for link in await find_history_links(database, made)
    }
    await make_history(database, made, "http://localhost:9999", NOW, nothing)
    links = await find_history_links(database, made)
    assert {link.id: link.destination_url for link in links} == {
        link_id: f"http://localhost:9999{page}" for link_id, page in pages.items()
    }


async def test_nothing_is_made_in_the_future(database: Database, org_id: OrgId) -> None:
    """Links of campaigns that begin in the next days are prepared by now, not made later than now."""
    await make_history(database, org_id, "http://localhost:8081", NOW, lambda *_: None, days=1)
    links = await find_history_links(database, org_id)
    assert max(max(link.created_at, link.modified_at) for link in links) <= NOW


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
    counted = Counter(visit.link_id for visit in clicks if visit.counted)
    assert len({(visit.at, visit.link_id, visit.visitor) for visit in clicks}) == len(clicks)
    assert await counts(analytics, org_id) == counted
    stored = [conversion async for conversion in database["conversions"].find({"org_id": org_id})]
    assert len({conversion["transaction_id"] for conversion in stored}) == len(stored) > 0


async def test_it_is_deleted_with_its_organization_and_made_again(
    database: Database,
    analytics: Analytics,
    organization: TestOrganization,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The demo's user sees it first and then the demo again; what another organization has stays its own.
    After a deletion, and after one that was interrupted, all of it is there again, and counts."""
    own_link = _link(organization.id, organization.domain, "own")
    await insert_links(database, [own_link])
    clicks = [
        click(organization.id, own_link.id, NOW - timedelta(hours=hour), visitor=hour) for hour in range(30)
    ]
    await ship(database, clicks)
    before = await documents(database, organization.id)
    await prepare_user(database, tmp_path / "password.txt", organization.id, NOW)
    first = await history_organization(database, NOW)
    assert await seen_organizations(database) == (first, organization.id)
    assert await history_organization(database, NOW) == first
    await make(database, first)
    made, made_clicks = await documents(database, first), await counts(analytics, first)
    assert len(made_clicks) > 1

    with monkeypatch.context() as patch:
        patch.setattr(organization_deletion, "_delete_rest", _stop)
        with pytest.raises(_Stopped):
            await delete_history(database, utc_now())
    second = await history_organization(database, NOW)
    assert second != first
    await make(database, second)

    assert await documents(database, second) == made
    assert sorted((await counts(analytics, second)).values()) == sorted(made_clicks.values())
    assert await replayed(database, second) == await stored(database, second)

    deleted = await delete_history(database, utc_now())

    assert deleted["links"] == LINKS
    assert deleted["conversions"] > 0
    assert not +await documents(database, second)
    third = await history_organization(database, NOW)
    await make(database, third)
    assert await documents(database, third) == made
    assert sorted((await counts(analytics, third)).values()) == sorted(made_clicks.values())
    assert (await delete_history(database, utc_now()))["links"] == LINKS
    assert not +await documents(database, third)
    assert await seen_organizations(database) == (organization.id,)
    assert await recorded_clicks(database, organization.id) == sorted(
        clicks, key=lambda recorded: recorded.at
    )
    assert await documents(database, organization.id) == before + Counter(users=1)
    await database["users"].delete_one({"email": EMAIL})


def test_three_hundred_links_with_names_of_campaigns() -> None:
    """The catalogue has 300 links at different addresses, all with source, medium and campaign."""
    links = planned_links(date(2026, 9, 23))
    assert len({(link.domain, link.path) for link in links}) == len(links) == MOST_LINKS == 300
    assert {link.domain for link in links} == set(DOMAINS)
    assert all({"utm_source", "utm_medium", "utm_campaign"} <= link.utm.keys() for link in links)
    assert len({link.utm["utm_campaign"] for link in links}) > 20
    assert {tag for link in links for tag in link.tags} == TAGS.keys()
    assert all(link.path == link.path.lower() and " " not in link.path for link in links)


def test_the_seed_gives_the_same_again() -> None:
    """Two histories of the same run have the same clicks and calls, hour by hour."""
    first, second = drawn(links=20), drawn(links=20)
    hours = range(24, 48)
    assert [_facts(visit) for visit in first.clicks(hours)] == [
        _facts(visit) for visit in second.clicks(hours)
    ]
    sent = first.batches(hours)
    assert [batch.device_id for batch in sent] == [batch.device_id for batch in second.batches(hours)]
    assert all(
        is_uuid(device_id) and device_id.startswith("0a1b2c3d-")
        for device_id in (str(batch.device_id) for batch in sent)
    )


def test_sales_are_in_two_currencies() -> None:
    """Visitors from America pay in dollars, others in euros."""
    sent = drawn().batches(range(24 * 4))
    sales = [
        arrived.call for batch in sent for arrived in batch.calls if arrived.call.kind is Kind.CONVERSION
    ]
    assert {sale.fields["currency"] for sale in sales} == {"EUR", "USD"}


def test_weeks_have_a_rhythm() -> None:
    """Tuesdays, when the newsletter goes out, are busier than Sundays; evenings are busier than nights."""
    clicks = drawn().clicks(range(14 * 24))
    days = Counter(visit.at.weekday() for visit in clicks)
    hours = Counter(visit.at.hour for visit in clicks)
    assert days[1] > 1.5 * days[6]
    assert hours[19] > 4 * hours[2]


def _facts(visit: Click) -> tuple[object, ...]:
    return visit.at, visit.reason, visit.browser, visit.country, visit.referrer_host, visit.visitor


class _Stopped(Exception):
    """What ends a deletion; an interrupt would end the tests if a running service met it."""


def _stop(*_: Any) -> None:
    raise _Stopped

"""Alert rules look at stored facts: what fires, once, with which figures, and when it is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from backend.alert_watch.round import look
from backend.alert_watch.watch import LEASE, AlertWatch
from backend.domain.accounts.users import User
from backend.domain.alerts.alert import MOST_SENT_A_DAY, Alert
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import AlertKind, AlertRule
from backend.domain.feed.events import EventType
from backend.domain.ids import LinkId, UserId
from backend.domain.links.limits import LinkLimits
from backend.domain.mail.language import Language
from backend.domain.visitors.rejections import Rejection
from backend.storage.accounts.origin_refusals import OriginRefusal, add_origin_refusal
from backend.storage.accounts.rate_limited_requests import RateLimitedRequests, add_rate_limited
from backend.storage.accounts.users.users import insert_user
from backend.storage.alerts import alerts
from backend.storage.alerts.firing import tell
from backend.storage.alerts.rules import change_rule, create_rule, delete_rule
from backend.storage.alerts.sources import MOST_LINKS, AlertSources
from backend.storage.analytics.client import Analytics
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.broken import BrokenDestination, keep_results, list_broken
from backend.storage.links.tags import create_tag
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.mail.mails import NAME as MAILS
from backend.storage.processes.leases import NAME as LEASES
from backend.storage.processes.leases import end_lease
from backend.storage.visitors.rejections import RejectedCalls, add_rejections, list_rejections
from tests.archives.full_organization import PASSWORD_HASH
from tests.conftest import OrganizationFactory
from tests.destination_watch.test_step import link_to
from tests.facts.clicks import click, ship
from tests.facts.feeds import read_all
from tests.facts.fired_alerts import CHANNELS, fire_alert
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.polling import wait_for_async

NOW = datetime.now(UTC).replace(minute=20, second=0, microsecond=0)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
async def turn(database: Database) -> AsyncIterator[None]:
    """The service under test, which has the same database, does not look meanwhile."""
    ours = {"holder": "tests", "until": datetime.now(UTC) + timedelta(minutes=10)}
    await database[LEASES].update_one({"_id": LEASE}, {"$set": ours}, upsert=True)
    yield
    await end_lease(database, LEASE, "tests")


@pytest.fixture
async def link_id(database: Database, organization: TestOrganization) -> LinkId:
    """A link of two months with a click every half an hour for six weeks."""
    link = link_to(organization, 1, "https://shop.example/", domain=organization.domain)
    tag = await create_tag(database, organization.id, "Spring", None, NOW)
    own_id = LinkId(organization.id)
    fields: dict[str, Any] = {"id": own_id, "created_at": NOW - timedelta(days=60), "tag_ids": [tag.id]}
    await insert_links(database, [replace(link, **fields)])
    begin = NOW - timedelta(days=44)
    clicks = [click(organization.id, own_id, begin + half * HOUR / 2) for half in range(44 * 48 - 40)]
    await ship(database, clicks)
    return own_id


async def rule_of(database: Database, organization: TestOrganization, kind: str, **fields: Any) -> AlertRule:
    """A new rule."""
    return await create_rule(
        database, organization.id, {"name": "Rule", "kind": AlertKind(kind), **fields}, NOW
    )


async def test_a_drop_and_then_a_spike(
    database: Database, organization: TestOrganization, analytics: Analytics, link_id: LinkId
) -> None:
    """Twenty hours without a click are told once, of the link, its tag and the organization; its end is
    known; and many clicks are told at once, in the hour in which they come."""
    for scope in ({}, {"link_id": link_id}, {"tag": "spring"}):
        await rule_of(database, organization, "drop", **scope)
    quiet = await rule_of(database, organization, "drop", thresholds={"least": 60})
    spike = await rule_of(database, organization, "spike")
    fired = await look(database, analytics, CHANNELS, organization.id, NOW)
    assert len(fired) == 3
    assert quiet.id not in {alert.rule_id for alert in fired}
    for alert in fired:
        assert (alert.figures["clicks"], alert.figures["usual"]) == (0, 20)
    assert await look(database, analytics, CHANNELS, organization.id, NOW + HOUR) == []
    assert await alerts.count_open(database, organization.id) == 3
    later = NOW + 2 * HOUR
    await ship(database, [click(organization.id, link_id, later) for _ in range(60)])
    (alert,) = await look(database, analytics, CHANNELS, organization.id, later + HOUR / 4)
    assert (alert.rule_id, alert.figures["clicks"]) == (spike.id, 60)
    assert await look(database, analytics, CHANNELS, organization.id, later + 4 * HOUR) == []
    stored = await alerts.list_alerts(database, organization.id, 10)
    assert {alert.kind.value: alert.ended_at is None for alert in stored} == {"drop": False, "spike": False}
    preview = await AlertSources(database, analytics, organization.id, later + 4 * HOUR).preview(spike)
    assert [finding.began_at for finding in preview.findings] == [later.replace(minute=0)]


async def test_a_drop_is_over_when_clicks_come_again(
    database: Database, organization: TestOrganization, analytics: Analytics, link_id: LinkId
) -> None:
    """A link that is dead for weeks stays dropped, though the weeks before have no clicks either by then."""
    rule = await rule_of(database, organization, "drop", link_id=link_id)
    assert len(await look(database, analytics, CHANNELS, organization.id, NOW)) == 1
    for days in (8, 15, 18, 24):
        at = NOW + timedelta(days=days)
        assert await look(database, analytics, CHANNELS, organization.id, at) == []
        assert await alerts.count_open(database, organization.id) == 1, days
    preview = await AlertSources(database, analytics, organization.id, NOW + timedelta(days=15)).preview(rule)
    assert [finding.ended_at for finding in preview.findings] == [None]
    await ship(database, [click(organization.id, link_id, at + HOUR) for _ in range(60)])
    await look(database, analytics, CHANNELS, organization.id, at + 5 * HOUR)
    assert await alerts.count_open(database, organization.id) == 0


async def test_what_holds_when_a_rule_is_switched_on_again_is_told_again(
    database: Database, organization: TestOrganization, analytics: Analytics, link_id: LinkId
) -> None:
    """It is told once more each time, as another alert; what ended by itself in between is not."""
    broken = BrokenDestination("destination_url", "https://shop.example/", "answers with status 404", NOW)
    await keep_results(database, {link_id: (organization.id, [broken])}, NOW)
    rule = await rule_of(database, organization, "broken_destination")
    (first,) = await look(database, analytics, CHANNELS, organization.id, NOW)
    told = {first.id}
    for quarters in (1, 5):
        off, on, later = (NOW + number * HOUR / 4 for number in range(quarters, quarters + 3))
        await change_rule(database, organization.id, rule.id, {"is_enabled": False})
        assert await look(database, analytics, CHANNELS, organization.id, off) == []
        await change_rule(database, organization.id, rule.id, {"is_enabled": True})
        (again,) = await look(database, analytics, CHANNELS, organization.id, on)
        assert (again.cause, again.id in told) == (first.cause, False)
        told.add(again.id)
        assert await look(database, analytics, CHANNELS, organization.id, later) == []
    await keep_results(database, {link_id: (organization.id, [])}, NOW)
    await look(database, analytics, CHANNELS, organization.id, NOW + 4 * HOUR)
    await keep_results(database, {link_id: (organization.id, [broken])}, NOW)
    assert await look(database, analytics, CHANNELS, organization.id, NOW + 5 * HOUR) == []


async def test_what_a_rule_is_about_hides_behind_nothing_else(
    database: Database, organization: TestOrganization, analytics: Analytics, link_id: LinkId
) -> None:
    """More links than are held at a time, disabled or of others, come before the one that is told of."""
    broken = BrokenDestination("destination_url", "https://shop.example/", "answers with status 404", NOW)
    others = [
        replace(
            link_to(organization, number, "https://shop.example/", domain=organization.domain),
            id=LinkId(f"{number:05}-{organization.id}"),
            path=f"p/{number}",
            is_enabled=number % 2 == 0,
            limits=LinkLimits(max_clicks=10),
        )
        for number in range(2 * MOST_LINKS + 500)
    ]
    await insert_links(database, others)
    later = replace(broken, since=NOW + HOUR)
    await keep_results(database, {link.id: (organization.id, [later]) for link in others}, NOW)
    await keep_results(database, {link_id: (organization.id, [broken])}, NOW)
    await database["links"].update_one({"_id": link_id}, {"$set": {"limits": {"max_clicks": 10}}})
    await take_clicks(database, organization.id, link_id, 10, 10)
    await rule_of(database, organization, "broken_destination", tag="spring")
    await rule_of(database, organization, "limits")
    fired = await look(database, analytics, CHANNELS, organization.id, NOW)
    assert {(alert.kind, alert.link_id) for alert in fired} == {
        (AlertKind.BROKEN_DESTINATION, link_id),
        (AlertKind.LIMITS, link_id),
    }
    assert len(await list_broken(database, organization.id, 1_200)) == 1_200


async def test_limits_ends_and_destinations(
    database: Database, organization: TestOrganization, analytics: Analytics, link_id: LinkId
) -> None:
    """Each tells of the links that it is about, with the figures that say why, and again when more of it has
    come; what was mended is over."""
    limits = {"limits": {"max_clicks": 10, "expires_at": NOW + timedelta(days=2)}}
    await database["links"].update_one({"_id": link_id}, {"$set": limits})
    await take_clicks(database, organization.id, link_id, 9, 10)
    broken = BrokenDestination("destination_url", "https://shop.example/", "answers with status 404", NOW)
    await keep_results(database, {link_id: (organization.id, [broken])}, NOW)
    await add_rate_limited(database, [(organization.id, RateLimitedRequests("rest", 300, NOW))])
    for kind in ("limits", "link_expiry", "broken_destination"):
        await rule_of(database, organization, kind, link_id=link_id)
    await rule_of(database, organization, "limits", thresholds={"percent": 100})
    fired = await look(database, analytics, CHANNELS, organization.id, NOW)
    assert sorted(alert.cause.partition("/")[0] for alert in fired) == ["broken", "clicks", "expires", "rate"]
    figures = {alert.cause.partition("/")[0]: dict(alert.figures) for alert in fired}
    assert figures["clicks"] == {"clicks": 9, "max_clicks": 10}
    assert figures["broken"]["problem"] == "answers with status 404"
    assert figures["rate"]["requests"] == 300
    await take_clicks(database, organization.id, link_id, 1, 10)
    await keep_results(database, {link_id: (organization.id, [])}, NOW)
    expired = NOW + timedelta(days=2, minutes=1)
    more = await look(database, analytics, CHANNELS, organization.id, expired)
    assert sorted(alert.cause.rpartition("/")[0] for alert in more) == ["clicks/all"] * 2 + ["expired"]
    still = await alerts.list_alerts(database, organization.id, 20, is_open=True)
    assert {alert.id for alert in still} == {alert.id for alert in more}


async def test_sites_and_calls(
    database: Database, organization: TestOrganization, analytics: Analytics
) -> None:
    """A site that is refused often, and calls that are rejected often; neither what is rare nor what is
    long ago. What a stranger sent is shown harmlessly."""
    for number in reversed(range(12)):
        refusal = OriginRefusal("https://evil.example\x1b", "is not allowed", NOW - number * HOUR / 4)
        await add_origin_refusal(database, organization.id, refusal)
    await add_origin_refusal(database, organization.id, OriginRefusal("", "is missing", NOW))
    rejection = Rejection("conversion", "currency", "must be an ISO 4217 code")
    old = Rejection("lead", "event_id", "must be a string")
    await add_rejections(
        database,
        [
            RejectedCalls(organization.id, NOW, (rejection,) * 15),
            RejectedCalls(organization.id, NOW - timedelta(days=2), (old,) * 15),
        ],
    )
    await rule_of(database, organization, "refused_sites")
    await rule_of(database, organization, "rejected_calls")
    fired = await look(database, analytics, CHANNELS, organization.id, NOW)
    calls, site = sorted(fired, key=lambda alert: alert.cause)
    assert (site.figures["origin"], site.figures["requests"]) == ("https://evil.example?", 12)
    assert (calls.figures["field"], calls.figures["calls"]) == ("currency", 15)
    assert await look(database, analytics, CHANNELS, organization.id, NOW + HOUR) == []
    later = NOW + timedelta(days=2)
    await add_rejections(database, [RejectedCalls(organization.id, later, (rejection,))])
    assert await look(database, analytics, CHANNELS, organization.id, later) == []
    assert await alerts.count_open(database, organization.id) == 0
    kept = (await list_rejections(database, organization.id))[0]
    assert (kept.calls, kept.calls_of_day) == (16, 1)
    last_minute = later.replace(hour=23, minute=59)
    await add_rejections(database, [RejectedCalls(organization.id, last_minute, (rejection,) * 15)])
    after_midnight = [last_minute + timedelta(minutes=minutes) for minutes in (4, 9)]
    looks = [await look(database, analytics, CHANNELS, organization.id, at) for at in after_midnight]
    assert [[alert.figures["calls"] for alert in told] for told in looks] == [[16], []]


async def test_what_is_sent_is_stored_with_the_alert(
    database: Database, organization: TestOrganization
) -> None:
    """Webhooks get an event, and people of the organization one mail of all; a second telling of the same,
    by whoever comes late, changes nothing."""
    for name in ("ada", "eve"):
        org_ids = (organization.id,)
        email = f"{name}@{organization.domain}"
        await insert_user(database, User(UserId(email), email, PASSWORD_HASH, org_ids, NOW))
    rule = await rule_of(
        database, organization, "limits", webhooks=True, mail_to=[f"ada@{organization.domain}"]
    )
    found = [
        AlertCause(f"clicks/all/{number}", "5", NOW, {"clicks": 5, "max_clicks": 5}) for number in range(30)
    ]
    fired = await tell(database, CHANNELS, rule, found, NOW)
    assert [alert.is_sent for alert in fired] == [True] * MOST_SENT_A_DAY + [False] * 10
    assert await tell(database, CHANNELS, rule, found, NOW) == []
    events = await read_all(database, organization.id, [EventType.ALERT])
    assert [event.data["id"] for event in events] == [alert.id for alert in fired[:MOST_SENT_A_DAY]]
    assert events[0].data["why"] == "All 5 clicks of the link were taken, so it leads nowhere any more."
    (mail,) = [mail async for mail in database[MAILS].find({"org_id": organization.id})]
    assert (mail["address"], mail["text"].count("All 5 clicks")) == (f"ada@{organization.domain}", 20)
    assert mail["subject"] == "Limit reached: Rule (and 19 more)"
    assert rule.unsubscribe_token(mail["address"]) in mail["unsubscribe_url"]
    # Over, and there again in the same period: it was told.
    assert await tell(database, CHANNELS, rule, [], NOW + HOUR) == []
    assert await alerts.count_open(database, organization.id) == 0
    assert await tell(database, CHANNELS, rule, found[:1], NOW + 2 * HOUR) == []


async def test_an_end_is_told_once_in_the_readers_language(
    database: Database, organization: TestOrganization
) -> None:
    """Where somebody waits for it: with the alert's figures, by webhook and by mail."""
    email = f"ada@{organization.domain}"
    await insert_user(database, User(UserId(email), email, PASSWORD_HASH, (organization.id,), NOW))
    rule = await rule_of(
        database, organization, "broken_destination", webhooks=True, mail_to=[email],
        language=Language.DE, timezone=ZoneInfo("Europe/Berlin"),
    )  # fmt: skip
    since = datetime(2026, 3, 2, 12, 5, tzinfo=UTC)
    figures = {"url": "https://shop.example/<b>", "problem": "answers with status 404", "since": since}
    found = [AlertCause("broken/l/destination_url", "p", since, figures, LinkId("l"))]
    for holding in (found, found, [], []):
        await tell(database, CHANNELS, rule, holding, NOW)
    fired, over = await read_all(database, organization.id, [EventType.ALERT])
    assert (fired.data["ended_at"], over.data["ended_at"] is None) == (None, False)
    assert fired.data["id"] == over.data["id"]
    queued = database[MAILS].find({"org_id": organization.id}).sort("subject", 1)
    ended, first = [mail async for mail in queued]
    assert first["subject"] == "Ziel nicht erreichbar: Rule"
    assert ended["subject"] == "Vorbei: Ziel nicht erreichbar: Rule"
    assert "antwortet mit Status 404, seit 02.03.2026, 13:05 Uhr CET." in first["text"]
    assert "shop.example/&lt;b&gt;" in first["html"]
    assert "Vorbei seit" in ended["text"]


async def test_a_rule_that_is_switched_off_or_deleted_has_nothing_open(
    database: Database, organization: TestOrganization, analytics: Analytics
) -> None:
    """Its alerts are over at the next look and stay in the list, also where the organization has no other
    rule."""
    switched_off, deleted = [await fire_alert(database, organization.id, LinkId(own)) for own in "lm"]
    await change_rule(database, organization.id, switched_off.rule_id, {"is_enabled": False})
    await delete_rule(database, organization.id, deleted.rule_id)
    await end_lease(database, LEASE, "tests")
    watch = AlertWatch(database, analytics, CHANNELS, lambda: NOW)
    await watch.look_at_all()
    await watch.stop()
    stored = await alerts.list_alerts(database, organization.id, 5)
    assert {alert.id for alert in stored} == {switched_off.id, deleted.id}
    assert [alert.ended_at for alert in stored] == [NOW] * 2


async def test_one_process_looks_at_a_time(
    database: Database, organization: TestOrganization, analytics: Analytics
) -> None:
    """Who has the lease looks; another one does nothing until the first has stopped."""
    await rule_of(database, organization, "rejected_calls", thresholds={"least": 1})
    rejection = Rejection("lead", "event_id", "must be a string")
    await add_rejections(database, [RejectedCalls(organization.id, NOW, (rejection,))])
    await end_lease(database, LEASE, "tests")
    first, second = (AlertWatch(database, analytics, CHANNELS, lambda: NOW) for _ in range(2))
    await first.has_turn()
    await second.look_at_all()
    assert await _fired(database, organization) == []
    await first.stop()
    await second.look_at_all()
    assert len(await _fired(database, organization)) == 1
    await second.stop()


async def test_slow_figures_of_one_keep_no_other_waiting(
    database: Database,
    make_organization: OrganizationFactory,
    analytics: Analytics,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While one's hang, others are told. Of an organization whose figures are slow, some rules are looked at
    each time, and all of them sooner or later."""
    slow, *others = sorted([(await make_organization()) for _ in range(3)], key=lambda made: made.id)
    rejection = Rejection("lead", "event_id", "must be a string")
    for organization in (slow, *others):
        for _ in range(3):
            await rule_of(database, organization, "rejected_calls", thresholds={"least": 1})
        await add_rejections(database, [RejectedCalls(organization.id, NOW, (rejection,))])
    found, goes_on, looked = AlertSources.found, asyncio.Event(), []

    async def find_slowly(sources: AlertSources, rule: AlertRule) -> list[AlertCause]:
        if rule.org_id == slow.id:
            looked.append(rule.id)
            await goes_on.wait()
        return await found(sources, rule)

    monkeypatch.setattr(AlertSources, "found", find_slowly)
    monkeypatch.setattr("backend.alert_watch.round._MOST_SECONDS", 0.0)
    await end_lease(database, LEASE, "tests")
    watch = AlertWatch(database, analytics, CHANNELS, lambda: NOW)
    looking = asyncio.create_task(watch.look_at_all())
    for organization in others:
        fired = partial(_fired, database, organization)
        await wait_for_async(fired, "the other one is not told", lambda alerts: len(alerts) == 1)
    assert (len(looked), looking.done()) == (1, False)
    goes_on.set()
    await looking
    assert len(looked) == 1
    for _ in range(60):
        await look(database, analytics, CHANNELS, slow.id, NOW)
    assert (len(looked), len({*looked})) == (61, 3)
    await watch.stop()  # not before: the tests' service would look meanwhile


async def _fired(database: Database, organization: TestOrganization) -> list[Alert]:
    return await alerts.list_alerts(database, organization.id, 10)


async def test_what_fails_for_one_keeps_no_other_from_being_told(
    database: Database, make_organization: OrganizationFactory, analytics: Analytics
) -> None:
    """A rule that can't be read any more stops neither the organization's other rules nor other
    organizations."""
    failing, whole = await make_organization(), await make_organization()
    rejection = Rejection("lead", "event_id", "must be a string")
    broken = await rule_of(database, failing, "rejected_calls", thresholds={"least": 1})
    await database["alert_rules"].update_one({"_id": broken.id}, {"$set": {"thresholds": {"least": "many"}}})
    for organization in (failing, whole):
        await rule_of(database, organization, "rejected_calls", thresholds={"least": 1})
        await add_rejections(database, [RejectedCalls(organization.id, NOW, (rejection,))])
    await end_lease(database, LEASE, "tests")
    watch = AlertWatch(database, analytics, CHANNELS, lambda: NOW)
    await watch.look_at_all()
    await watch.stop()
    assert [len(await _fired(database, organization)) for organization in (failing, whole)] == [1, 1]

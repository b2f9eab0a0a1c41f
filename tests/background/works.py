"""Each kind of background work: what an organization has of it, a fault in that, and when it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from backend.alert_watch.watch import AlertWatch
from backend.archives.making import ArchiveMaking
from backend.concurrency.startable import running
from backend.destination_watch.step import check_next_links
from backend.domain.accounts.deletion import ANNOUNCED_FOR
from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.fields.time_zones import TimeZone
from backend.domain.ids import InstallId, LinkId
from backend.domain.mail.language import Language
from backend.domain.reports.recipient import Frequency
from backend.domain.visitors.rejections import Rejection
from backend.domain.web.short_urls import ShortUrlForm
from backend.mail.delivery import MailDelivery
from backend.mail.report_mails import ReportMailResources, ReportMails
from backend.settings import Settings
from backend.storage.accounts.announced_deletions import announce_deletion
from backend.storage.accounts.organizations import set_click_days
from backend.storage.analytics.client import Analytics
from backend.storage.apps.installs import record_install
from backend.storage.archives.archives import ask_archive
from backend.storage.clicks import merges
from backend.storage.clicks.expired_days import sum_all
from backend.storage.columns.tables.column_files import SUFFIX
from backend.storage.driver.mongo import Database, Document
from backend.storage.ledger.statement_signing import sign_all
from backend.storage.lifecycle.organization_deletion import begin_due_deletions, finish_deletions
from backend.storage.lifecycle.privacy.privacy import finish_erasures
from backend.storage.lifecycle.purge import delete_late_counts
from backend.storage.lifecycle.retention import set_retention
from backend.storage.links.destinations.rounds import begin_again, take_turn
from backend.storage.links.purged import add_purged_link
from backend.storage.links.tags import create_tag
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.mail.mails import queue_mail
from backend.storage.outbox.aging import delete_expired
from backend.storage.outbox.sequencer import Sequencer, place_all
from backend.storage.outbox.watch import FeedWatch
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.work import Work
from backend.storage.reports.recipients import ask_recipient, confirm_recipient
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.storage.webhooks.endpoints import create_endpoint
from backend.system.clock import utc_now
from backend.web_client.receivers import Receivers
from backend.webhooks.delivery import WebhookDelivery
from backend.webhooks.sender import SenderResources
from tests.alert_watch.test_round import rule_of
from tests.destination_watch.test_step import CHECK, link_to
from tests.facts.archives import KEPT
from tests.facts.clicks import click, ship
from tests.facts.fired_alerts import CHANNELS
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links
from tests.mail.conftest import mail_to, server_at
from tests.polling import wait_for_async
from tests.processes.smtp_server import Mailbox
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import host
from tests.webhooks.conftest import happen
from tests.webhooks.receiver import Receiver

NOW = datetime.now(UTC).replace(microsecond=0)
DAY = timedelta(days=1)
LONG_AGO = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class World:
    """What work is done with, and the organizations that have it."""

    database: Database
    folder: Path
    analytics: Analytics
    mailbox: Mailbox
    receiver: Receiver
    organizations: list[TestOrganization] = field(default_factory=list)
    is_whole: bool = False  # there is no fault, so that nothing may fail

    async def find(self, collection: str, organization: TestOrganization) -> Document | None:
        """A document of the organization."""
        return await self.database[collection].find_one(_of(organization))

    async def has_settled(self, work: BackgroundWork) -> bool:
        """Whether work that goes on by itself is done for each organization, or failed for it."""
        failing = {item.org_id for item in await list_failing(self.database)}
        if self.is_whole and failing:
            return False
        others = [organization for organization in self.organizations if organization.id not in failing]
        return all([await work.is_done(self, organization) for organization in others])


@dataclass(frozen=True, kw_only=True)
class BackgroundWork:
    """Work that is done for each organization.

    `prepare` gives one of them something to do, for which it has a document in `collection`; `fault` damages
    it. `do` is a round of the work, for all of them.
    """

    work: Work
    prepare: Callable[[World, TestOrganization], Awaitable[object]]
    collection: str
    fault: Callable[[Document], Document]
    do: Callable[[World], Awaitable[object]]
    is_done: Callable[[World, TestOrganization], Awaitable[bool]]


def _of(organization: TestOrganization) -> Document:
    return {"$or": [{"org_id": organization.id}, {"_id": organization.id}]}


def without(field: str) -> Callable[[Document], Document]:
    """The document lacks this field."""
    return lambda document: {name: value for name, value in document.items() if name != field}


def instead(**values: Any) -> Callable[[Document], Document]:
    """Fields of the document have these values."""
    return lambda document: document | values


def is_gone(collection: str) -> Callable[[World, TestOrganization], Awaitable[bool]]:
    """Whether the organization has nothing in the collection."""

    async def is_done(world: World, organization: TestOrganization) -> bool:
        return await world.find(collection, organization) is None

    return is_done


def is_there(collection: str, **values: Any) -> Callable[[World, TestOrganization], Awaitable[bool]]:
    """Whether the organization has a document with these values in the collection."""

    async def is_done(world: World, organization: TestOrganization) -> bool:
        return await world.database[collection].find_one(_of(organization) | values) is not None

    return is_done


async def _watch(world: World, organization: TestOrganization) -> None:
    await rule_of(world.database, organization, "rejected_calls", thresholds={"least": 1})
    rejection = Rejection("lead", "event_id", "must be a string")
    await add_rejections(world.database, [RejectedCalls(organization.id, NOW, (rejection,))])


async def _look_for_alerts(world: World) -> None:
    watch = AlertWatch(world.database, world.analytics, CHANNELS, lambda: NOW)
    await watch.look_at_all()
    await watch.stop()


async def _ask_archive(world: World, organization: TestOrganization) -> None:
    await ask_archive(
        world.database, organization.id, "ada@shop.example",
        kept=KEPT, mail_to=None, language=Language.EN, now=utc_now(),
    )  # fmt: skip


async def _make_archives(world: World) -> None:
    making = ArchiveMaking(world.database, utc_now, KEPT)
    for _ in world.organizations:
        await making.step()
    await making.stop()


async def _click_twice(world: World, organization: TestOrganization) -> None:
    for visitor in (1, 2):
        await ship(world.database, [click(organization.id, LinkId("link"), NOW, visitor=visitor)])


async def _has_one_block(world: World, organization: TestOrganization) -> bool:
    return await world.database["click_blocks"].count_documents({"org_id": organization.id}) == 1


async def _load(world: World, organization: TestOrganization) -> None:
    """A file of columns, and a click that is not in it yet."""
    async with host(world.database, world.folder) as projections:
        await projections.ask(organization.id, [])
    await store_blocks(world.database, organization.id, 1, 3)
    await place_all(world.database, organization.id)


async def _keep_up(world: World) -> None:
    async with host(world.database, world.folder) as projections:
        await projections.keep_up()


async def _is_loaded(world: World, organization: TestOrganization) -> bool:
    with duckdb.connect(world.folder / f"{organization.id}.clicks{SUFFIX}", read_only=True) as connection:
        return connection.execute("SELECT count(*) FROM clicks").fetchone() == (3,)


async def _announce(world: World, organization: TestOrganization) -> None:
    await announce_deletion(world.database, organization.id, "ada@shop.example", NOW)


async def _delete(world: World) -> None:
    await begin_due_deletions(world.database, NOW + 2 * ANNOUNCED_FOR)
    await finish_deletions(world.database, NOW + 3 * ANNOUNCED_FOR)


async def _begin_deletion(world: World, organization: TestOrganization) -> None:
    begun = {"_id": organization.id, "at": NOW, "is_gone": False}
    await world.database["deleted_organizations"].insert_one(begun)


async def _link(world: World, organization: TestOrganization) -> None:
    number = 1 + world.organizations.index(organization)
    unanswered = link_to(organization, number, "http://localhost:1/", domain=organization.domain)
    await insert_links(world.database, [unanswered])


async def _check_destinations(world: World) -> None:
    await take_turn(world.database, "test", "me", utc_now())
    await begin_again(world.database, "test", utc_now())
    while begun := await take_turn(world.database, "test", "me", utc_now()):
        if begun.is_over:
            return
        await check_next_links(world.database, CHECK, begun, None, utc_now())


async def _begin_erasure(world: World, organization: TestOrganization) -> None:
    begun = {"org_id": organization.id, "subject": {"customer_id": "ada"}, "worked_at": NOW - DAY}
    await world.database["erasures"].insert_one({"_id": f"{organization.id}/customer_id/ada", **begun})


async def _finish_erasures(world: World) -> None:
    await finish_erasures(world.database)


async def _click_long_ago(world: World, organization: TestOrganization) -> None:
    await set_click_days(world.database, organization.id, 40)
    await ship(world.database, [click(organization.id, LinkId("link"), LONG_AGO)])


async def _add_up(world: World) -> None:
    await sum_all(world.database, LONG_AGO + 41 * DAY)


async def _note_later(world: World, organization: TestOrganization) -> None:
    """An entry with its place, and one that waits for it."""
    await create_tag(world.database, organization.id, "first", None, NOW)
    await place_all(world.database, organization.id)
    await create_tag(world.database, organization.id, "second", None, NOW)


async def _place(world: World) -> None:
    async with running(Sequencer(world.database)):
        await _until_settled(world, _FEED)


async def _has_places(world: World, organization: TestOrganization) -> bool:
    waiting = {"org_id": organization.id, "waits": True}
    return await world.database["feed_entries"].find_one(waiting) is None


async def _install(world: World, organization: TestOrganization) -> None:
    install = Install(organization.id, InstallId("phone"), AppPlatform.IOS, None, NOW)
    await record_install(world.database, install)
    await set_retention(world.database, organization.id, 30)
    await place_all(world.database, organization.id)


async def _age(world: World) -> None:
    await delete_expired(world.database, NOW + 32 * DAY)


async def _has_aged(world: World, organization: TestOrganization) -> bool:
    aging = {"org_id": organization.id, "ages_by": "retention_days"}
    return await world.database["feed_entries"].find_one(aging) is None


async def _subscribe(world: World, organization: TestOrganization) -> None:
    """Whose report is gone: they get no more mails, which is found out once one is due."""
    values = {
        "report_id": "gone",
        "address": "ada@shop.example",
        "frequency": Frequency.WEEKLY,
        "language": Language.EN,
        "timezone": TimeZone().parse("timezone", "UTC"),
    }
    reader = await ask_recipient(world.database, organization.id, values, NOW)
    await confirm_recipient(world.database, reader.token, reader.code or "", NOW)


async def _make_mails(world: World) -> None:
    in_a_month = NOW + 31 * DAY
    resources = ReportMailResources(world.database, world.analytics, Settings(), lambda: in_a_month)
    making = ReportMails(resources)
    await making.step()
    await making.stop()


async def _purge(world: World, organization: TestOrganization) -> None:
    link_id = LinkId(f"{organization.id}-link")
    await add_purged_link(world.database, link_id, organization.id, NOW)
    await take_clicks(world.database, organization.id, link_id, 1, 5)


async def _delete_late(world: World) -> None:
    await delete_late_counts(world.database, NOW)


async def _click(world: World, organization: TestOrganization) -> None:
    await happen(world.database, organization.id, 1)
    await place_all(world.database, organization.id)


async def _sign(world: World) -> None:
    await sign_all(world.database, (NOW + 2 * DAY).date())


async def _queue(world: World, organization: TestOrganization) -> None:
    await queue_mail(world.database, mail_to("ada@shop.example", "test", organization.id), NOW)


async def _send_mails(world: World) -> None:
    sending = MailDelivery(world.database, server_at(world.mailbox), utc_now)
    for _ in world.organizations:
        await sending.step()
    await sending.stop()


async def _want_webhooks(world: World, organization: TestOrganization) -> None:
    await create_endpoint(world.database, organization.id, {"url": world.receiver.url()}, utc_now())
    await _click(world, organization)


async def _deliver(world: World) -> None:
    feed, receivers = FeedWatch(world.database), Receivers(allows_loopback=True)
    delivery = WebhookDelivery(SenderResources(world.database, feed, receivers, utc_now, ShortUrlForm()))
    try:
        async with running(feed, delivery):
            await _until_settled(world, _WEBHOOKS)
    finally:
        await receivers.close()


async def _is_told(world: World, organization: TestOrganization) -> bool:
    return organization.id in {request.json["org_id"] for request in world.receiver.requests}


async def _until_settled(world: World, work: BackgroundWork) -> None:
    async def has_settled() -> bool:
        return await world.has_settled(work)

    await wait_for_async(has_settled, f"{work.work}: done, or failed")


_FEED = BackgroundWork(
    work=Work.FEED,
    prepare=_note_later,
    collection="feed_heads",
    fault=instead(place="many"),
    do=_place,
    is_done=_has_places,
)
_WEBHOOKS = BackgroundWork(
    work=Work.WEBHOOKS,
    prepare=_want_webhooks,
    collection="webhooks",
    fault=instead(cursor="nowhere"),
    do=_deliver,
    is_done=_is_told,
)
WORKS = (
    BackgroundWork(
        work=Work.ALERTS,
        prepare=_watch,
        collection="alert_rules",
        fault=without("kind"),
        do=_look_for_alerts,
        is_done=is_there("alerts"),
    ),
    BackgroundWork(
        work=Work.ARCHIVES,
        prepare=_ask_archive,
        collection="archives",
        fault=instead(language="unknown"),
        do=_make_archives,
        is_done=is_there("archives", state="ready"),
    ),
    BackgroundWork(
        work=Work.BLOCKS,
        prepare=_click_twice,
        collection="click_blocks",
        fault=without("packed"),
        do=lambda world: merges._merge_due(world.database),
        is_done=_has_one_block,
    ),
    BackgroundWork(
        work=Work.COLUMNS,
        prepare=_load,
        collection="feed_entries",
        fault=without("facts"),
        do=_keep_up,
        is_done=_is_loaded,
    ),
    BackgroundWork(
        work=Work.DELETIONS,
        prepare=_announce,
        collection="announced_deletions",
        fault=without("asked_by"),
        do=_delete,
        is_done=is_there("deleted_organizations", is_gone=True),
    ),
    BackgroundWork(
        work=Work.DELETIONS,
        prepare=_begin_deletion,
        collection="deleted_organizations",
        fault=instead(at="yesterday"),
        do=_delete,
        is_done=is_there("deleted_organizations", is_gone=True),
    ),
    BackgroundWork(
        work=Work.DESTINATIONS,
        prepare=_link,
        collection="links",
        fault=without("created_at"),
        do=_check_destinations,
        is_done=is_there("broken_destinations"),
    ),
    BackgroundWork(
        work=Work.ERASURES,
        prepare=_begin_erasure,
        collection="erasures",
        fault=instead(subject={"person": "ada"}),
        do=_finish_erasures,
        is_done=is_gone("erasures"),
    ),
    BackgroundWork(
        work=Work.EXPIRED_DAYS,
        prepare=_click_long_ago,
        collection="click_blocks",
        fault=without("packed"),
        do=_add_up,
        is_done=is_gone("click_blocks"),
    ),
    BackgroundWork(
        work=Work.EXPIRED_DAYS,
        prepare=_click_long_ago,
        collection="organizations",
        fault=without("created_at"),
        do=_add_up,
        is_done=is_gone("click_blocks"),
    ),
    _FEED,
    BackgroundWork(
        work=Work.FEED,
        prepare=_note_later,
        collection="feed_heads",
        fault=instead(place=0),
        do=_place,
        is_done=_has_places,
    ),
    BackgroundWork(
        work=Work.FEED_AGING,
        prepare=_install,
        collection="organizations",
        fault=instead(retention_days="many"),
        do=_age,
        is_done=_has_aged,
    ),
    BackgroundWork(
        work=Work.FIGURES_BY_MAIL,
        prepare=_subscribe,
        collection="report_recipients",
        fault=instead(frequency="never"),
        do=_make_mails,
        is_done=is_gone("report_recipients"),
    ),
    BackgroundWork(
        work=Work.LATE_COUNTS,
        prepare=_purge,
        collection="purged_links",
        fault=instead(_id=5),
        do=_delete_late,
        is_done=is_gone("taken_clicks"),
    ),
    BackgroundWork(
        work=Work.LEDGER,
        prepare=_click,
        collection="feed_entries",
        fault=without("facts"),
        do=_sign,
        is_done=is_there("ledger_statements"),
    ),
    BackgroundWork(
        work=Work.MAILS,
        prepare=_queue,
        collection="mails",
        fault=without("attempts"),
        do=_send_mails,
        is_done=is_there("mails", state="sent"),
    ),
    _WEBHOOKS,
)

"""Sends events to one endpoint, in order."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from backend.concurrency.fair_semaphore import FairSemaphore
from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.domain.web.short_urls import ShortUrlForm
from backend.domain.webhooks.deliveries import Delivery
from backend.domain.webhooks.endpoint import Endpoint, Form
from backend.domain.webhooks.requests import request_of
from backend.domain.webhooks.retries import Failure, failed, succeeded
from backend.domain.webhooks.selection import batches, link_of, selected, wanted_types
from backend.storage.driver.mongo import Database, StorageError, is_unreachable
from backend.storage.feed.put_backs import note_put_back
from backend.storage.feed.reading import FeedPage, read_feed
from backend.storage.links.links import find_links
from backend.storage.outbox.marks import FeedPutBack
from backend.storage.outbox.watch import FeedWatch
from backend.storage.webhooks.deliveries import MOST_KEPT, note_deliveries
from backend.storage.webhooks.endpoint_leases import HeldEndpoint, store_progress
from backend.system.clock import Clock
from backend.web_client.receivers import Receivers
from backend.webhooks.attempt import attempt
from backend.webhooks.metrics import DELAY, EVENTS, REPEATS, REQUESTS, SLEPT

# Events that are read from the feed at once.
_EVENTS_PER_READ = 200
# Events are read again after so many seconds, since a person in them may have been erased meanwhile.
_FRESH_SECONDS = 5.0
# Seconds until a cursor is stored that moved past events which the endpoint does not want.
_STORE_INTERVAL = 10.0
_NOTE_INTERVAL = 0.5
# The longest seconds between two looks at the clock in a pause, and the longest wait for new events.
_LONGEST_SLEEP = 1.0
_LONGEST_WAIT = 5.0
_logger = logging.getLogger(__name__)


class EndpointLost(Exception):
    """Another process has the endpoint now."""


class RequestLimits:
    """Limits the pending requests of a process, and those of one organization to half of them. Failing
    endpoints have a limit of their own, so that working ones don't wait for them."""

    def __init__(self, working: int = 100, failing: int = 20) -> None:
        self._working = FairSemaphore(working)
        self._failing = FairSemaphore(failing)

    def of(self, endpoint: Endpoint) -> AbstractAsyncContextManager[object]:
        """The limit for requests to this endpoint."""
        limit = self._failing if endpoint.failing_since else self._working
        return limit.place(endpoint.org_id)


@dataclass(frozen=True, slots=True)
class SenderResources:
    """The resources that all senders of a process share."""

    database: Database
    feed: FeedWatch
    receivers: Receivers
    clock: Clock
    short_urls: ShortUrlForm
    limits: RequestLimits = field(default_factory=RequestLimits)


class EndpointSender:
    """Delivers to an endpoint that this process holds.

    With `ends` set, `run` ends after the pending request and stores its progress. While no request is pending
    (`is_sending` is false), `run` may be cancelled.
    """

    def __init__(self, resources: SenderResources, held: HeldEndpoint) -> None:
        self.ends = False
        self.is_sending = False
        self._resources = resources
        self._held = held
        self._is_unstored = False  # the cursor moved and is not stored
        self._stored_at = time.monotonic()
        self._deliveries: list[Delivery] = []
        self._noted_at = 0.0

    @property
    def held(self) -> HeldEndpoint:
        """The endpoint with its progress."""
        return self._held

    async def run(self) -> None:
        """Deliver until the endpoint sleeps. Raises EndpointLost if another process took it; StorageError."""
        while not (self.ends or self._endpoint.slept_at):
            await self._until_due()
            if await self._resources.feed.wait(self._endpoint.org_id, self._endpoint.cursor, _LONGEST_WAIT):
                await self._deliver_or_fail()
            await self._store_now_and_then()
        await self._settle()

    @property
    def _endpoint(self) -> Endpoint:
        return self._held.endpoint

    def _move(self, endpoint: Endpoint) -> None:
        self._held = replace(self._held, endpoint=endpoint)

    async def _until_due(self) -> None:
        while due := self._endpoint.next_try_at:
            seconds_left = (due - self._resources.clock()).total_seconds()
            if seconds_left <= 0:
                return
            await self._store_now_and_then()
            await asyncio.sleep(min(seconds_left, _LONGEST_SLEEP))

    async def _deliver_or_fail(self) -> None:
        try:
            await self._deliver()
        except (EndpointLost, StorageError):
            raise
        except Exception as error:
            # A failure is noted for the organization, and the next attempt waits.
            _logger.exception("The request to the webhook %s can't be made", self._endpoint.id)
            await self._fail(Failure(f"Waylink could not make the request: {type(error).__name__}"), 0)

    async def _deliver(self) -> None:
        """Read the next page of the feed, and deliver its events while they are fresh."""
        read_at = time.monotonic()
        try:
            page = await self._page()
        except FeedPutBack as put_back:
            await self._go_back(put_back)
            return
        links = await self._links_of(page.events)
        self.is_sending = True
        try:
            await self._send_all(page, links, until=read_at + _FRESH_SECONDS)
        finally:
            self.is_sending = False

    async def _page(self) -> FeedPage:
        endpoint = self._endpoint
        return await read_feed(
            self._resources.database,
            endpoint.org_id,
            endpoint.cursor,
            url_form=self._resources.short_urls,
            types=wanted_types(endpoint),
            limit=max(_EVENTS_PER_READ, 10 * endpoint.batch_size),
        )

    async def _go_back(self, put_back: FeedPutBack) -> None:
        """Go on from where the feed is the same as before MongoDB was put back from a backup."""
        common = put_back.common or START
        self._held = replace(self._held.moved(common), sent_to=common)
        _logger.warning(
            "The webhook %s of %s goes back from %s to %s: MongoDB was put back from a backup",
            self._endpoint.id, self._endpoint.org_id, put_back.cursor, common,
        )  # fmt: skip
        database, reader = self._resources.database, f"webhook {self._endpoint.url}"
        await note_put_back(database, self._endpoint.org_id, reader, put_back)
        await self._store()

    async def _send_all(self, page: FeedPage, links: Mapping[LinkId, Link], until: float) -> None:
        """Send the page's events that the endpoint has chosen, until the monotonic clock reaches `until`."""
        endpoint = self._endpoint
        chosen = selected(endpoint, page.events, links)
        for batch in batches(chosen, endpoint.batch_size, self._held.sent_to):
            if self.ends or time.monotonic() > until:
                break
            if not await self._send(batch, links):
                return
        else:
            self._held = self._held.moved(page.next_cursor)
            if page.has_more and not self.ends:
                return  # the progress is stored with the next request
        await self._settle()

    async def _links_of(self, events: Iterable[Event]) -> Mapping[LinkId, Link]:
        """The current links of these events; none where tags and the form don't need them."""
        if not self._endpoint.tag_ids and self._endpoint.form is Form.JSON:
            return {}
        ids = {link_id for event in events if (link_id := link_of(event))}
        return await find_links(self._resources.database, ids, self._endpoint.org_id) if ids else {}

    async def _send(self, batch: Sequence[Event], links: Mapping[LinkId, Link]) -> bool:
        """Send these events in one request. Returns whether the receiver accepted them."""
        endpoint = self._endpoint
        short_urls = {
            link.id: self._resources.short_urls.write(link.domain, link.path) for link in links.values()
        }
        request = request_of(endpoint, batch, short_urls)
        sent_to = self._held.sent_to
        repeats = sum(event.cursor <= sent_to for event in batch)
        self._held = replace(self._held, sent_to=max(sent_to, batch[-1].cursor))
        async with self._resources.limits.of(endpoint):
            # One write for each request stores cursor and `sent_to`, and checks that we hold the endpoint.
            await self._store()
            if time.monotonic() - self._noted_at > _NOTE_INTERVAL:
                await self._note()
            result = await attempt(
                self._resources.receivers, endpoint, request, self._resources.clock(), repeats=repeats
            )
        self._deliveries.append(result.delivery)
        REPEATS.inc(repeats)
        REQUESTS.labels("failed" if result.failure else "delivered").inc()
        if result.failure:
            await self._fail(result.failure, repeats)
            return False
        self._move(succeeded(endpoint, batch, repeats))
        self._is_unstored = True
        self._observe(batch)
        return True

    def _observe(self, batch: Sequence[Event]) -> None:
        now = self._resources.clock()
        EVENTS.inc(len(batch))
        for event in batch:
            DELAY.observe(max(0.0, (now - event.at).total_seconds()))

    async def _fail(self, failure: Failure, repeats: int) -> None:
        before = self._endpoint
        chance = random.random()  # noqa: S311 - jitter
        after = failed(before, failure, repeats, self._resources.clock(), chance)
        self._move(after)
        if after.slept_at:
            SLEPT.inc()
            _logger.error(
                "The webhook %s of %s sleeps until somebody says that it is to go on: %s",
                after.id, after.org_id, after.last_error,
            )  # fmt: skip
        elif not before.failing_since:
            _logger.warning("The webhook %s of %s fails: %s", after.id, after.org_id, after.last_error)
        await self._store()
        await self._note()

    async def _settle(self) -> None:
        """Store the progress and the deliveries."""
        if self._is_unstored:
            await self._store()
        await self._note()

    async def _store_now_and_then(self) -> None:
        """Store the progress now and then, also without events. Raises EndpointLost if it was taken."""
        if time.monotonic() - self._stored_at > _STORE_INTERVAL:
            await self._store()

    async def _store(self) -> None:
        if not await store_progress(self._resources.database, self._held):
            raise EndpointLost
        self._is_unstored, self._stored_at = False, time.monotonic()

    async def _note(self) -> None:
        """Store the last deliveries. If MongoDB is unreachable, they are stored with the next ones."""
        if not self._deliveries:
            return
        endpoint, deliveries = self._endpoint, self._deliveries[-MOST_KEPT:]
        try:
            now = self._resources.clock()
            await note_deliveries(self._resources.database, endpoint.org_id, endpoint.id, deliveries, now)
            deliveries = []
        except StorageError as error:
            if not is_unreachable(error):
                raise
        self._deliveries, self._noted_at = deliveries, time.monotonic()

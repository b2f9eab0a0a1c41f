"""Delivers to webhook endpoints in the background: takes this process's share of them, and sends to each."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.domain.ids import EndpointId
from backend.domain.webhooks.endpoint import Endpoint
from backend.storage.driver.lanes import owned_by
from backend.storage.driver.mongo import Document, StorageError, is_unreachable
from backend.storage.processes.items import Items
from backend.storage.processes.leases import end_lease, forget_leases, live_leases, take_lease
from backend.storage.processes.work import Work
from backend.storage.schema.work_item import WorkItem
from backend.storage.webhooks.endpoint_leases import count_by_holder, free_endpoints, release, take_free
from backend.webhooks.metrics import FAILING
from backend.webhooks.sender import EndpointLost, EndpointSender, SenderResources

_PREFIX = "webhooks/"
_LEASE = timedelta(seconds=6)
# Seconds between two searches for endpoints without a holder.
STEP_SECONDS = 1.0
# How long a stopping service waits for requests that are under way.
_STOP_SECONDS = 3.0


# A sender that went on for so long is one that does not fail.
_PROVEN_AFTER = 60.0


@dataclass(slots=True)
class _Running:
    sender: EndpointSender
    task: asyncio.Task[None]
    since: float = field(default_factory=time.monotonic)
    is_proven: bool = False


class WebhookDelivery:
    """Delivers to this process's share of the endpoints, with a task for each."""

    def __init__(self, resources: SenderResources) -> None:
        self._resources = resources
        self._database = resources.database
        self._holder = f"{_PREFIX}{uuid.uuid4().hex}"
        self._running: dict[EndpointId, _Running] = {}
        self._has_lease = False
        self._items = Items(self._database, Work.WEBHOOKS)
        self._task = BackgroundTask(Work.WEBHOOKS, self._go_on)

    async def start(self) -> None:
        """Start to deliver."""
        await self._task.start()

    async def stop(self) -> None:
        """Stop delivering. Other processes take over once the pending requests are answered."""
        await self._task.stop()
        try:
            await self._leave(list(self._running))
            if self._has_lease:
                await end_lease(self._database, self._holder, self._holder)
        except StorageError as error:
            if not is_unreachable(error):
                raise

    async def _go_on(self) -> None:
        await forget_leases(self._database, _PREFIX)
        while True:
            await self._step()
            await asyncio.sleep(STEP_SECONDS)

    async def _step(self) -> None:
        """Take endpoints without a holder, or leave some to others, so that each process has its share."""
        await self._forget_ended()
        await self._note_proven()
        FAILING.set(
            sum(running.sender.held.endpoint.failing_since is not None for running in self._running.values())
        )
        counts = await count_by_holder(self._database)
        if not counts:
            return
        self._has_lease = True
        await take_lease(self._database, self._holder, self._holder, _LEASE)
        live = await live_leases(self._database, _PREFIX)
        share, own_count = -(-sum(counts.values()) // len(live)), counts.get(self._holder, 0)
        if share < own_count:
            await self._leave(list(self._running)[share:])
        elif share > own_count and any(holder not in live for holder in counts):
            await self._take(live, share - own_count)

    async def _take(self, live: set[str], limit: int) -> None:
        free = await free_endpoints(self._database, live, limit, await self._items.waiting())
        await self._items.each(free, self._take_one, only_begins=True)

    async def _take_one(self, free: Document) -> None:
        held = await take_free(self._database, self._holder, free)
        if held is None:
            return
        if stale := self._running.pop(held.endpoint.id, None):
            stale.task.cancel()  # its organization has changed the endpoint
        sender = EndpointSender(self._resources, held)
        self._running[held.endpoint.id] = _Running(sender, asyncio.create_task(self._run(sender)))

    async def _leave(self, ids: Iterable[EndpointId]) -> None:
        """Leave these endpoints to other processes, after waiting a while for pending requests."""
        leaving = [self._running[running] for running in ids]
        for running in leaving:
            running.sender.ends = True
            if not running.sender.is_sending:
                running.task.cancel()
        if leaving:
            await asyncio.wait([running.task for running in leaving], timeout=_STOP_SECONDS)
        for running in leaving:
            running.task.cancel()
        await self._forget_ended()

    async def _forget_ended(self) -> None:
        """Release the endpoints whose senders have ended, for whatever reason."""
        for endpoint_id, running in list(self._running.items()):
            if running.task.done() or running.task.cancelling():
                await release(self._database, running.sender.held)
                del self._running[endpoint_id]

    async def _note_proven(self) -> None:
        for running in self._running.values():
            if not running.is_proven and time.monotonic() > running.since + _PROVEN_AFTER:
                running.is_proven = True
                await self._items.succeed(_item_of(running.sender))

    async def _run(self, sender: EndpointSender) -> None:
        """Deliver until the sender ends. After an error, a later sender goes on."""
        owned_by(sender.held.endpoint.org_id)
        with suppress(EndpointLost):
            try:
                await sender.run()
            except Exception as error:
                if is_unreachable(error) or isinstance(error, EndpointLost):
                    raise
                await self._items.fail(_item_of(sender), error)


def _item_of(sender: EndpointSender) -> WorkItem[Endpoint]:
    endpoint = sender.held.endpoint
    return WorkItem(endpoint.id, endpoint.org_id, lambda: endpoint)

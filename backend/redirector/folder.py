"""Folds the clicks that were shipped into the rollups, in the background (storage/click_folds).

The process that has shipped clicks folds them right after, and rests before it folds again: so a lone click
is in the analytics at once, and under load one fold takes all that came meanwhile. What processes left that
ended is looked for when this one starts, when it takes their logs over, and now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from backend.concurrency.background_task import BackgroundTask
from backend.concurrency.pauses import pause_after
from backend.domain.click_block import Block
from backend.domain.ids import OrgId
from backend.redirector.fold_helper import FoldHelper, HelperFailed
from backend.redirector.folding_lock import FoldingLock
from backend.redirector.metrics import count_folded
from backend.storage.click_folds import Busy
from backend.storage.click_merges import merge_small_blocks, organizations_with_small_blocks
from backend.storage.folding import MOST_CLICKS, Folded, Folds
from backend.storage.former_clicks import FormerClicks
from backend.storage.link_merges import all_unmerged_clicks
from backend.storage.mongo import Database, StorageError, is_unreachable
from backend.storage.unfolded_clicks import waiting_clicks

_SHORTEST_REST, _LONGEST_REST = 0.2, 1.0
_REST = 4.0  # a rest lasts so many times as long as a fold in this process took
_HELPED_REST = 0.5  # and as one in the helper did
_MOST_ORGANIZATIONS = 50  # in one fold
# More clicks than these are folded by a helper, since they would hold up redirects here.
_SMALL = 500
_LAST_STEP = 5_000  # clicks at once, when the service stops
SWEEP_EVERY = 60.0  # seconds
_MERGE_EVERY = 3600.0
_MERGE_SECONDS = 0.5  # after so long, folding comes first again
_MERGE_BLOCKS = 100  # so many blocks of an organization are merged as soon as they are folded
# Clicks wait, and none was counted for so long: this is told. The longest step, a large merge, takes 20 s.
TOLD_AFTER = 30.0
_NAME = "folding clicks"
_STANDS_STILL = f"{_NAME}: none of those that wait was counted for {TOLD_AFTER:g} s"
_logger = logging.getLogger(__name__)


class Folder:
    """Folds what waits.

    On one machine only one process folds at a time: two would only disturb each other.
    """

    def __init__(self, database: Database, folder: Path) -> None:
        """`folder` is the one with the click logs, which processes on this machine share."""
        self._database = database
        self._folds = Folds(database)
        self._former = FormerClicks(database)
        self._helper = FoldHelper(database)
        self._lock = FoldingLock(folder)
        # Clicks that were shipped, by organization; first the one that has waited longest for its turn.
        self._waiting: Counter[OrgId] = Counter()
        self._at_once = _MOST_ORGANIZATIONS
        # Those whose clicks are counted, but not merged into the documents of links.
        self._deferred: dict[OrgId, int] = {}  # how many, in the order of their turns
        self._helped_now: set[OrgId] = set()  # who had a fold by the helper in this turn
        self._unmerged: Counter[OrgId] = Counter()  # blocks that were folded
        self._arrived = asyncio.Event()
        self._sweep_at = self._merge_at = 0.0
        self._progress_at = time.monotonic()  # when something was counted, or began to wait
        self._task = BackgroundTask(_NAME, self._go_on)

    def start(self) -> None:
        """Start to fold in the background."""
        self._task.start()

    async def stop(self) -> None:
        """Stop folding in the background."""
        await self._task.stop()

    @property
    def failure(self) -> str | None:
        """A description of why clicks that wait are not counted; None if they are."""
        stands_still = self._waiting and time.monotonic() - self._progress_at > TOLD_AFTER
        return self._task.failure or (_STANDS_STILL if stands_still else None)

    def add(self, blocks: Sequence[Block]) -> None:
        """Fold these blocks, which were just stored."""
        self._note_wait()
        for block in blocks:
            self._waiting[block.org_id] += block.clicks
        if blocks:
            self._arrived.set()

    @property
    def uncounted(self) -> int:
        """About how many clicks wait to be folded, as far as this process knows."""
        return self._waiting.total()

    def sweep(self) -> None:
        """Look for what others have left to fold."""
        self._sweep_at = 0.0
        self._arrived.set()

    async def fold_rest(self) -> None:
        """Fold everything that this process has shipped. Raises StorageError."""
        while self._waiting:
            try:
                folded = await self._folds.fold(org_ids := list(self._waiting), _LAST_STEP, merges=False)
                self._note(folded)
            except Busy:
                await asyncio.sleep(_SHORTEST_REST)
                continue
            if folded.is_all:
                for org_id in org_ids:
                    del self._waiting[org_id]

    def close(self) -> None:
        """Release what it has open."""
        self._helper.stop()
        self._lock.close()

    async def _go_on(self) -> None:
        failures = 0
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._sweep_at - time.monotonic())):
                    await self._arrived.wait()
            try:
                rest = await self._turn()
                failures = 0
            except StorageError as error:
                if not is_unreachable(error):
                    raise
                failures += 1
                rest = pause_after(failures)
                if failures == 1:
                    _logger.warning("Clicks wait to be counted, the database can't be written: %s", error)
            await asyncio.sleep(rest)

    async def _turn(self) -> float:
        """Fold once, and do what is due besides. Returns the seconds to rest."""
        with self._lock.taken() as is_mine:
            if not is_mine:
                return _SHORTEST_REST * random.uniform(0.5, 1)  # noqa: S311 - jitter
            if time.monotonic() > self._sweep_at:
                self._note_wait()
                self._waiting |= Counter(await waiting_clicks(self._database))
                self._deferred |= await all_unmerged_clicks(self._database)
                self._former.look()
                self._sweep_at = time.monotonic() + SWEEP_EVERY
            if not self._waiting and not self._deferred:
                self._arrived.clear()
            self._helped_now = set()
            rest = await self._fold() if self._waiting else 0.0
            if to_merge := [each for each in self._deferred if each not in self._helped_now]:
                rest = max(rest, await self._merge_deferred(to_merge[0]))
            await self._merge()
            return rest if self._former.is_done else max(rest, await self._move())

    async def _move(self) -> float:
        """Move clicks that an earlier version stored. Returns the seconds to rest."""
        began = time.monotonic()
        self.add(await self._former.move())
        if not self._former.is_done:
            self._arrived.set()
        return min(_REST * (time.monotonic() - began), _LONGEST_REST)

    async def _merge_deferred(self, org_id: OrgId) -> float:
        """Merge clicks into the documents of the organization's links. Returns the seconds to rest."""
        began = time.monotonic()
        self._deferred[org_id] = self._deferred.pop(org_id)  # behind the others, also if it fails
        try:
            few = self._deferred[org_id] <= _SMALL
            folded = await (self._folds.fold([org_id], _SMALL) if few else self._helped([org_id]))
        except Busy:
            return _SHORTEST_REST * random.uniform(0.5, 1)  # noqa: S311 - jitter
        self._note(folded)
        del self._deferred[org_id]
        self._deferred |= folded.unmerged
        return min(max(_SHORTEST_REST, _HELPED_REST * (time.monotonic() - began)), _LONGEST_REST)

    async def _fold(self) -> float:
        began = time.monotonic()
        noted = self._next()
        # One that fails, or that another process folds, must not hold up those beside it for ever.
        at_once, self._at_once = self._at_once, 1
        had_turn = list(noted)
        rest = _REST
        try:
            if sum(noted.values()) > _SMALL:
                self._helped_now = set(noted)  # that fold merges as well
                folded, rest = await self._helped(list(noted)), _HELPED_REST
            else:
                folded = await self._folds.fold(noted, _SMALL, merges=False)
                if not folded.is_all:  # more than this process has shipped: the helper goes on
                    self._waiting |= Counter(dict.fromkeys(noted, _SMALL + 1))
            if not folded.is_all:
                had_turn = list(folded.blocks)
        except Busy:
            return _SHORTEST_REST * random.uniform(0.5, 1)  # noqa: S311 - jitter
        finally:
            for each in had_turn:
                self._waiting[each] = self._waiting.pop(each)
        self._note(folded)
        self._deferred |= folded.unmerged
        if folded.is_all:
            self._waiting -= Counter(noted)
            self._at_once = min(2 * at_once, _MOST_ORGANIZATIONS)
        return min(max(_SHORTEST_REST, rest * (time.monotonic() - began)), _LONGEST_REST)

    def _next(self) -> dict[OrgId, int]:
        """The organizations whose turn it is.

        They are those that one fold takes; one with more clicks has a fold of its own, and then others have
        their turn.
        """
        noted: dict[OrgId, int] = {}
        for org_id, clicks in self._waiting.items():
            if noted and (len(noted) >= self._at_once or sum(noted.values()) + clicks > MOST_CLICKS):
                break
            noted[org_id] = clicks
        return noted

    async def _helped(self, org_ids: list[OrgId]) -> Folded:
        try:
            return await self._helper.fold(org_ids)
        except HelperFailed as error:  # such as where no process can be started
            _logger.warning("Clicks are counted without a helper: %s", error)
            return await self._folds.fold(org_ids, _SMALL)

    def _note_wait(self) -> None:
        """Note that clicks begin to wait, unless some do already."""
        if not self._waiting:
            self._progress_at = time.monotonic()

    def _note(self, folded: Folded) -> None:
        self._progress_at = time.monotonic()
        self._unmerged.update(folded.blocks)
        count_folded(folded.clicks, folded.unreadable)

    async def _merge(self) -> None:
        """Merge small blocks: of organizations that have many new ones, and now and then of all."""
        if time.monotonic() > self._merge_at:
            if self._merge_at:  # not as the service starts
                self._unmerged.update(
                    dict.fromkeys(await organizations_with_small_blocks(self._database), _MERGE_BLOCKS)
                )
            self._merge_at = time.monotonic() + _MERGE_EVERY
        began = time.monotonic()
        for org_id in [org_id for org_id, blocks in self._unmerged.items() if blocks >= _MERGE_BLOCKS]:
            if time.monotonic() - began > _MERGE_SECONDS:  # clicks are to be folded in between
                self._arrived.set()
                return
            del self._unmerged[org_id]
            with contextlib.suppress(Busy):
                await merge_small_blocks(self._database, org_id)

"""A year of clicks for the benchmarks of analytics, counted as the service counts."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta

from backend.clock import utc_now
from backend.domain.click_block import block_of
from backend.domain.clicks import Click
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.storage.click_blocks import ship_blocks
from backend.storage.click_folds import Busy
from backend.storage.click_logs import LogHead
from backend.storage.folding import Folds
from backend.storage.mongo import Database, StorageError

DAYS = 365
_DAY = timedelta(days=1)
_COUNTRIES = ("US", "DE", "IN", "BR", None)
_DAYS_A_FOLD = 20


async def count_year(
    database: Database, org_id: OrgId, ids: Sequence[LinkId], clicks: int, *, is_even: bool = True
) -> None:
    """Store and count so many clicks on these links, as many on each day of the year.

    If it `is_even`, each link gets about as many as any other; else few links get most of them, as people's
    links do.
    """
    folds = Folds(database)
    for number, day in enumerate(_made(org_id, ids, clicks, is_even=is_even)):
        await ship_blocks(database, f"day-{number}", LogHead(), 1, [block_of(org_id, day)])
        if number % _DAYS_A_FOLD == 0:
            print(f"\r  {number} days counted", end="", flush=True)
            await _fold(folds, org_id)
    await _fold(folds, org_id)
    print("\r", end="")


async def _fold(folds: Folds, org_id: OrgId) -> None:
    is_done = False
    while not is_done:
        # What takes too long on a busy machine is tried again, as the service does, with fewer links at once.
        with suppress(StorageError, Busy):
            is_done = (await folds.fold([org_id])).is_done


def _made(org_id: OrgId, ids: Sequence[LinkId], clicks: int, *, is_even: bool) -> Iterator[list[Click]]:
    """The clicks of each day of the last year, of links that are drawn at random."""
    drawn = random.Random(clicks)  # noqa: S311 - no secret is drawn
    today = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    weights = [1.0 if is_even else 1 / place for place in range(1, len(ids) + 1)]
    cumulated = list(itertools.accumulate(weights))
    for ago in range(DAYS, 0, -1):
        clicked = drawn.choices(ids, cum_weights=cumulated, k=clicks // DAYS)
        yield [
            Click(
                org_id=org_id,
                link_id=each,
                at=today - ago * _DAY + timedelta(seconds=drawn.randrange(86_400)),
                counted=True,
                reason=None,
                outcome=Outcome.WEB,
                platform="desktop",
                system="Linux",
                browser="Firefox",
                client_kind="browser",
                country=drawn.choice(_COUNTRIES),
                referrer_host=None,
                visitor=drawn.randrange(10**6),
            )
            for each in clicked
        ]

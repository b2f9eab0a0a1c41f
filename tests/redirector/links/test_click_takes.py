"""Clicks of links with `max_clicks`, taken for visitors who come together."""

from __future__ import annotations

import asyncio

import pytest

from backend.domain.links.limits import LinkLimits
from backend.redirector.links import click_takes
from backend.redirector.links.click_takes import ClickTakes
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.redirector.conftest import LinkFactory


async def test_a_link_that_can_not_be_marked_as_used_up_keeps_nobody_waiting(
    database: Database, make_link: LinkFactory, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the error is: those who queue meanwhile, and all who come later, are answered."""

    marks, let_fail = asyncio.Event(), asyncio.Event()

    async def mark(*_: object) -> None:
        marks.set()
        await let_fail.wait()
        raise RuntimeError("it can't be marked")

    monkeypatch.setattr(click_takes, "mark_used_up", mark)
    link = await make_link(limits=LinkLimits(max_clicks=2))
    takes = ClickTakes(database, clock)
    together = await asyncio.wait_for(asyncio.gather(*(takes.take(link) for _ in range(3))), 10.0)
    assert together == [True, True, False]
    await asyncio.wait_for(marks.wait(), 10.0)
    queued = asyncio.create_task(takes.take(link))
    await asyncio.sleep(0)
    let_fail.set()
    assert not await asyncio.wait_for(queued, 10.0)
    for _ in range(2):
        assert not await asyncio.wait_for(takes.take(link), 10.0)

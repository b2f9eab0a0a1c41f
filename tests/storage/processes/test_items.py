"""Items of background work: what fails for one stops no other."""

from __future__ import annotations

from itertools import pairwise

import pytest
from pymongo.errors import AutoReconnect, ExecutionTimeout

from backend.concurrency import background_task
from backend.storage.processes.items import Items

NAME = "testing"


class Work:
    """Notes for which item it is done. It fails for those in `errors`."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.errors: dict[str, Exception] = {}

    async def __call__(self, item: str) -> None:
        if error := self.errors.get(item):
            raise error
        self.done.append(item)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the work that failed, each time."""
    told: list[str] = []
    monkeypatch.setattr(background_task, "when_failed", [told.append])
    return told


async def test_an_item_that_fails_waits_and_the_others_go_on(told: list[str]) -> None:
    """It is counted and logged, and left out for a pause that grows; once it succeeds all is as before."""
    now, work = 1000.0, Work()
    items = Items(NAME, lambda: now)
    work.errors["b"] = ValueError("bad")
    tries = []
    for _ in range(40):
        before = len(told)
        await items.each("abc", work)
        tries += [now] if len(told) > before else []
        now += 5.0
    assert work.done == ["a", "c"] * 40
    assert told == [NAME] * len(tries)
    pauses = [later - earlier for earlier, later in pairwise(tries)]
    assert 2 <= len(pauses) <= 6
    assert pauses[0] < pauses[-1]
    work.errors.clear()
    now += 3600.0
    for _ in range(2):
        await items.each("abc", work)
    assert work.done[-6:] == ["a", "b", "c"] * 2


@pytest.mark.parametrize("error", [ExecutionTimeout("slow"), KeyError("text")])
async def test_whatever_the_error_is(told: list[str], error: Exception) -> None:
    """Also where MongoDB gave one item up since it took too long."""
    work = Work()
    work.errors["a"] = error
    await Items(NAME).each("ab", work)
    assert (work.done, told) == (["b"], [NAME])


async def test_while_mongodb_is_away_nothing_is_any_item_s_fault(told: list[str]) -> None:
    """The error is raised, so that all are tried again soon."""
    work, items = Work(), Items(NAME)
    work.errors["a"] = AutoReconnect("gone")
    with pytest.raises(AutoReconnect):
        await items.each("ab", work)
    assert (work.done, told) == ([], [])
    work.errors.clear()
    await items.each("ab", work)
    assert work.done == ["a", "b"]


async def test_items_that_are_gone_are_forgotten() -> None:
    """What is no longer there, and comes again later, has not failed."""
    work, items = Work(), Items(NAME, lambda: 1000.0)
    work.errors["a"] = ValueError("bad")
    await items.each("a", work)
    await items.each("b", work)
    work.errors.clear()
    await items.each("ab", work)
    assert work.done == ["b", "a", "b"]

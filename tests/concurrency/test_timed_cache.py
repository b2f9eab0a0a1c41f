"""The cache of what is read from the database: how long it is valid, and who loads it."""

from __future__ import annotations

import asyncio

import pytest

from backend.concurrency.timed_cache import TimedCache


class Shelf:
    """Loads values one at a time, when told to, and counts how often."""

    def __init__(self, value: str | None = "kite") -> None:
        self.value = value
        self.loads = 0
        self.may_load = asyncio.Event()

    async def load(self, key: str) -> str | None:
        """The value of the moment in which it may be loaded; an error for the key "broken"."""
        self.loads += 1
        await self.may_load.wait()
        if key == "broken":
            raise ConnectionError
        return self.value


async def test_who_asks_at_once_waits_for_one_load() -> None:
    """Hundred requests that find an entry ended load it once, and all get its value."""
    shelf = Shelf()
    cache = TimedCache(shelf.load)
    asking = [asyncio.create_task(cache.get("shop")) for _ in range(100)]
    await asyncio.sleep(0)
    shelf.may_load.set()
    assert await asyncio.gather(*asking) == ["kite"] * 100
    assert shelf.loads == 1


async def test_one_who_gives_up_takes_the_value_from_nobody() -> None:
    """A request that is cancelled while it loads an entry leaves the load to those who wait for it."""
    shelf = Shelf()
    cache = TimedCache(shelf.load)
    first, second = asyncio.create_task(cache.get("shop")), asyncio.create_task(cache.get("shop"))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    shelf.may_load.set()
    assert first.cancelled()
    assert await second == "kite"
    assert shelf.loads == 1


async def test_an_error_is_raised_for_all_and_not_cached() -> None:
    """All who wait for a load get its error, and the next one loads again."""
    shelf = Shelf()
    cache = TimedCache(shelf.load)
    shelf.may_load.set()
    results = await asyncio.gather(cache.get("broken"), cache.get("broken"), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionError] * 2
    with pytest.raises(ConnectionError):
        await cache.get("broken")
    assert shelf.loads == 2


async def test_an_entry_ends_and_is_still_known() -> None:
    """An entry is loaded again when its time is over; until then it is only recalled."""
    now = 0.0
    shelf = Shelf()
    shelf.may_load.set()
    cache = TimedCache(shelf.load, lambda: now)
    assert await cache.get("shop") == "kite"
    shelf.value = "rope"
    now = cache.LIFETIME - 0.1
    assert await cache.get("shop") == "kite"
    now = cache.LIFETIME
    assert cache.fresh("shop") is None
    assert cache.recall("shop") == "kite"
    assert await cache.get("shop") == "rope"


async def test_nothing_is_remembered_of_what_is_not_there() -> None:
    """A key without a value is loaded each time, and what was known of it is forgotten."""
    shelf = Shelf(None)
    shelf.may_load.set()
    cache = TimedCache(shelf.load)
    assert [await cache.get("shop"), await cache.get("shop")] == [None, None]
    assert shelf.loads == 2
    assert cache.recall("shop") is None


async def test_no_more_entries_than_there_is_room_for() -> None:
    """The oldest entries leave when there are too many."""

    class Small(TimedCache[str, str | None]):
        CAPACITY = 2

    shelf = Shelf()
    shelf.may_load.set()
    cache = Small(shelf.load)
    for key in ("a", "b", "c"):
        await cache.get(key)
    assert [cache.recall(key) for key in ("a", "b", "c")] == [None, "kite", "kite"]


async def test_large_results_take_more_room() -> None:
    """The room is what results take together: a large one leaves less for others, one that is too large is
    given to who asks, and not kept."""

    class Sized(TimedCache[str, str]):
        CAPACITY = 10

        def size_of(self, value: str) -> int:
            """Its letters."""
            return len(value)

    async def load(key: str) -> str:
        return key

    cache = Sized(load)
    loaded = ("abc", "defg", "hij", "klmnopq", "abc", "x" * 11)
    kept = []
    for key in loaded:
        assert await cache.get(key) == key
        kept.append({key for key in loaded if cache.recall(key)})
    assert kept[:3] == [{"abc"}, {"abc", "defg"}, {"abc", "defg", "hij"}]
    assert kept[3:] == [{"hij", "klmnopq"}, {"abc", "klmnopq"}, {"abc", "klmnopq"}]


async def test_what_is_being_loaded_can_be_stopped() -> None:
    """A load that nobody waits for any more goes on until the cache is stopped, and not beyond."""
    shelf = Shelf()
    cache = TimedCache(shelf.load)
    asking = asyncio.create_task(cache.get("shop"))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    loading = cache.loading("shop")
    assert not loading.done()
    await cache.stop()
    assert loading.cancelled()
    assert shelf.loads == 1

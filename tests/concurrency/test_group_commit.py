"""Group commit: items that arrive together are stored together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import pytest

from backend.concurrency.group_commit import GroupCommit, NotStored
from tests.polling import until


def is_unreachable(error: Exception) -> bool:
    """Whether the sender may try again."""
    return isinstance(error, ConnectionError)


def parity(item: int) -> int:
    """An owner of items: one has the even ones, another one the odd ones."""
    return item % 2


def nobody(_: object) -> None:
    """An owner of all items."""


async def test_what_arrives_together_is_stored_together() -> None:
    """A thousand items at once take a few writes, and each gets its own result."""
    groups: list[Sequence[int]] = []

    async def store(items: Sequence[int]) -> list[int]:
        groups.append(items)
        return [item * 2 for item in items]

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)
    assert await asyncio.gather(*(commit.add(number, 0) for number in range(1000))) == list(range(0, 2000, 2))
    assert [len(group) for group in groups] == [500, 500]


async def test_senders_that_come_again_take_turns_in_halves() -> None:
    """Of 64 that ask anew once they are answered, one half is stored while the other half is answered."""
    groups: list[int] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(len(items))
        await asyncio.sleep(0.001)  # those of the group before ask anew
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)

    async def ask_five_times(number: int) -> None:
        for _ in range(5):
            assert await commit.add(number, 0) == number

    await asyncio.gather(*map(ask_five_times, range(64)))
    assert groups == [32] * 10


async def test_a_few_are_not_divided() -> None:
    """Groups of up to twenty are stored at once: two would cost almost twice as much."""
    groups: list[Sequence[int]] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(items)
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)
    assert await asyncio.gather(*(commit.add(number, 0) for number in range(20))) == list(range(20))
    assert groups == [list(range(20))]


async def test_a_group_has_a_largest_size() -> None:
    """Large items fill it sooner; one that is larger than a group is stored alone."""
    groups: list[Sequence[int]] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(items)
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody, size_of=lambda item: item)
    sizes = [200, 312, 1, 600, 500, 12, 500]
    assert await asyncio.gather(*(commit.add(size, 0) for size in sizes)) == sizes
    assert groups == [[200, 312], [1], [600], [500, 12], [500]]


async def test_one_bad_item_does_not_sink_the_others() -> None:
    """Where a group can't be stored, parts of it are, and only the bad item fails; that takes few tries."""
    tries = 0

    async def store(items: Sequence[int]) -> list[int]:
        nonlocal tries
        tries += 1
        if 300 in items:
            raise ValueError(300)
        return list(items)

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)
    results = await asyncio.gather(*(commit.add(number, 0) for number in range(500)), return_exceptions=True)
    assert isinstance(results.pop(300), ValueError)
    assert results == [number for number in range(500) if number != 300]
    assert tries < 30


async def test_items_that_can_not_be_stored_hold_up_their_owner_alone() -> None:
    """Where none of one owner's items can be stored, and each takes its time, all items of another one are
    answered at once, also those that come next. The first one's are refused soon, to be sent again."""

    async def store(items: Sequence[int]) -> list[int]:
        if bad := [item for item in items if item % 2]:
            await asyncio.sleep(0.02)
            raise ValueError(bad[0])
        return list(items)

    commit = GroupCommit(store, is_unreachable, owner_of=parity)
    odd = asyncio.gather(*(commit.add(2 * number + 1, 0) for number in range(250)), return_exceptions=True)
    even = asyncio.gather(*(commit.add(2 * number, 0) for number in range(250)))
    began = asyncio.get_running_loop().time()
    assert await even == [2 * number for number in range(250)]
    assert asyncio.get_running_loop().time() < began + 0.5
    assert await commit.add(1000, 0) == 1000
    assert {type(result) for result in await odd} == {NotStored}
    await until(lambda: not commit._aside, "what was set aside is never forgotten")
    assert asyncio.get_running_loop().time() < began + 2.5


async def test_too_much_waiting_is_refused() -> None:
    """Memory is bounded: beyond what may wait of an owner, in number or in bytes, the sender is told to come
    again; what others send has its own room."""
    gate = asyncio.Event()

    async def store(items: Sequence[int]) -> list[int]:
        await gate.wait()
        return list(items)

    commit = GroupCommit(store, is_unreachable, owner_of=parity)
    most, most_bytes = commit.MOST_WAITING, commit.MOST_BYTES_WAITING
    waiting = [asyncio.create_task(commit.add(2 * n, 0)) for n in range(most)]
    large = [asyncio.create_task(commit.add(1, most_bytes // 8)) for n in range(8)]
    await asyncio.sleep(0)  # each of them runs until it waits
    for too_much in (commit.add(0, 0), commit.add(1, 1)):
        with pytest.raises(NotStored):
            await too_much
    gate.set()
    assert await asyncio.gather(*waiting) == list(range(0, 2 * most, 2))
    assert await asyncio.gather(*large) == [1] * 8
    assert await commit.add(1, most_bytes) == 1
    assert not commit._lines


async def test_owners_take_turns() -> None:
    """An owner's first item comes before the second one of another, who has sent many before; items of an
    owner come in their order, and large ones count as many."""
    groups: list[Sequence[int]] = []
    gate = asyncio.Event()

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(items)
        await gate.wait()
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=parity, size_of=lambda item: item)
    first = asyncio.create_task(commit.add(2, 0))
    await until(lambda: groups, "nothing is written")
    waiting = [asyncio.create_task(commit.add(size, 0)) for size in (300, 302, 304, 301, 1)]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, *waiting)
    assert [item for group in groups for item in group] == [2, 300, 301, 302, 1, 304]


async def test_a_group_has_a_largest_number_of_bytes() -> None:
    """Nobody waits for the group of a few that sent much."""
    groups: list[Sequence[int]] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(items)
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=parity)
    third = commit.MOST_BYTES_IN_GROUP // 3
    await asyncio.gather(*(commit.add(2 * number, third) for number in range(7)))
    assert groups == [[0, 2, 4], [6, 8, 10], [12]]


async def test_only_full_groups_are_written_beside_one_another() -> None:
    """What arrives during a write waits for its end, all of it together, unless it fills a group."""
    gate = asyncio.Event()
    groups: list[Sequence[int]] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(items)
        await gate.wait()
        return items

    async def store_at_once(items: Sequence[int]) -> Sequence[int]:
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody, size_of=lambda item: item)
    another = GroupCommit(store_at_once, is_unreachable, owner_of=nobody)
    waiting = []
    for sizes, number in (([1], 1), ([2, 3, 500], 1), ([7], 2), ([8, 9], 2)):
        waiting += [asyncio.create_task(commit.add(size, 0)) for size in sizes]
        await asyncio.sleep(0)
        await another.add(0, 0)  # it begins to gather later than a writer of these would
        await until(lambda expected=number: len(groups) == expected, "the group")  # type: ignore[misc]
    gate.set()
    assert await asyncio.gather(*waiting) == [1, 2, 3, 500, 7, 8, 9]
    assert groups == [[1], [2, 3, 500, 7], [8, 9]]


async def test_what_arrives_as_all_writers_end_is_stored() -> None:
    """A writer that has nothing more to do is in the way of no new one, from that moment on."""
    gate = asyncio.Event()

    async def store(items: Sequence[int]) -> Sequence[int]:
        await gate.wait()
        return items

    async def add_late() -> int:
        await gate.wait()  # goes on right after the writers, in the same turn of the event loop
        return await commit.add(99, 0)

    commit = GroupCommit(store, is_unreachable, owner_of=nobody, size_of=lambda _: GroupCommit.MOST_IN_GROUP)
    waiting = []
    for number in range(commit.MOST_WRITERS):
        waiting.append(asyncio.create_task(commit.add(number, 0)))
        await asyncio.sleep(commit.GATHER * 5)
    late = asyncio.create_task(add_late())
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.wait_for(late, 5) == 99
    assert await asyncio.gather(*waiting) == [0, 1, 2, 3]


async def test_a_request_that_was_given_up_does_not_stop_the_others() -> None:
    """A sender that goes away leaves the rest of its group alone."""

    async def store(items: Sequence[int]) -> list[int]:
        return list(items)

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)
    gone, stays = asyncio.create_task(commit.add(1, 0)), asyncio.create_task(commit.add(2, 0))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 2


class _Timed(GroupCommit[int, int]):
    """A group commit whose callers wait so many seconds each, and that notes how long a group may take."""

    def __init__(self, store: Callable[[Sequence[int]], Awaitable[Sequence[int]]]) -> None:
        super().__init__(store, is_unreachable, owner_of=nobody)
        self.patience = 60.0
        self.given: list[float] = []

    def seconds_left(self) -> float:
        return self.patience

    def within(self, seconds: float) -> AbstractContextManager[None]:
        self.given.append(seconds)
        return nullcontext()


async def test_nobody_waits_longer_than_its_own_time() -> None:
    """Neither in a group that takes longer, which goes on for the others, nor for the group before."""
    stored: list[Sequence[int]] = []
    goes_on = asyncio.Event()

    async def store(items: Sequence[int]) -> Sequence[int]:
        stored.append(items)
        await goes_on.wait()
        return items

    commit = _Timed(store)
    patient = asyncio.create_task(commit.add(1, 0))
    await asyncio.sleep(0)  # it begins
    commit.patience = 0.05
    for in_group in (True, False):
        with pytest.raises(NotStored):
            await commit.add(2 if in_group else 3, 0)
    commit.patience = 60.0
    last = asyncio.create_task(commit.add(4, 0))
    goes_on.set()
    assert [await patient, await last] == [1, 4]
    assert stored == [[1, 2], [4]], "what was refused in the line must not be stored"


async def test_a_group_has_the_time_of_its_last_caller() -> None:
    """Not that of the caller that came first, or that began to write."""

    async def store(items: Sequence[int]) -> Sequence[int]:
        return items

    commit = _Timed(store)
    commit.patience = 1.0
    first = asyncio.create_task(commit.add(1, 0))
    await asyncio.sleep(0)  # it begins
    commit.patience = 9.0
    assert [await commit.add(2, 0), await first] == [2, 1]
    (given,) = commit.given
    assert 8.5 < given <= 9.0


@pytest.mark.parametrize(("fault", "answered"), [("too few results", ValueError), ("cancelled", NotStored)])
async def test_nobody_waits_for_ever(fault: str, answered: type[Exception]) -> None:
    """Whatever `store` does, all of its group are told, and those who come later are answered."""
    groups: list[int] = []

    async def store(items: Sequence[int]) -> Sequence[int]:
        groups.append(len(items))
        if len(groups) == 1 and fault == "cancelled":
            raise asyncio.CancelledError
        return items[:1] if len(groups) == 1 else items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody)
    async with asyncio.timeout(5):
        first = await asyncio.gather(*(commit.add(number, 0) for number in range(3)), return_exceptions=True)
        assert [type(answer) for answer in first] == [answered] * 3
        assert await asyncio.gather(*(commit.add(number, 0) for number in range(3))) == [0, 1, 2]


async def test_an_item_without_a_size_is_its_sender_s_error() -> None:
    """Nothing of it waits, and others are stored."""

    async def store(items: Sequence[int]) -> Sequence[int]:
        return items

    commit = GroupCommit(store, is_unreachable, owner_of=nobody, size_of=lambda item: 10 // item)
    async with asyncio.timeout(5):
        assert await commit.add(5, 0) == 5
        with pytest.raises(ZeroDivisionError):
            await commit.add(0, 0)
        assert await commit.add(5, 0) == 5
    assert not commit._waiting

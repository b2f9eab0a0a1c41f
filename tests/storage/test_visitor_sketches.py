"""Sketches of visitors: how near their counts are, and that the same visitors are always the same bytes."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backend.domain.visitors import HIGHEST_HASH
from backend.storage.visitor_sketches import (
    EXACT_UP_TO,
    STANDARD_ERROR,
    add_visitors,
    check_sketch,
    count_visitors,
    unite_sketches,
)

hashes = some.integers(0, HIGHEST_HASH)
NEAR_THE_LIMIT = [EXACT_UP_TO - 1, EXACT_UP_TO, EXACT_UP_TO + 1]


def visitors(count: int, seed: int = 1) -> list[int]:
    """So many different hashes, the same ones for a seed."""
    return random.Random(seed).sample(range(HIGHEST_HASH + 1), count)


def parts(of: list[int], ends: list[int]) -> list[list[int]]:
    """The hashes in groups that end at these places."""
    return [
        of[start:end] for start, end in pairwise([0, *sorted(min(end, len(of)) for end in ends), len(of)])
    ]


@given(some.lists(hashes, max_size=2 * EXACT_UP_TO))
def test_few_visitors_are_counted_exactly(seen: list[int]) -> None:
    """In four bytes a visitor."""
    different = len(set(seen))
    sketch = add_visitors(None, seen)
    if different <= EXACT_UP_TO:
        assert count_visitors(sketch) == different
        assert len(sketch) == 1 + 4 * different
    check_sketch(sketch)


@pytest.mark.parametrize(
    "count", [*NEAR_THE_LIMIT, 300, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000, 200_000]
)
def test_many_visitors_are_estimated(count: int) -> None:
    """Within four times the error that is stated, and in less than two kilobytes."""
    sketch = add_visitors(None, visitors(count))
    error = count_visitors(sketch) / count - 1
    assert abs(error) <= (4 * STANDARD_ERROR if count > EXACT_UP_TO else 0)
    assert len(sketch) < 2000


def test_the_error_is_what_is_said_of_it() -> None:
    """Over many sketches: the mean is near the truth, and the deviation no larger than stated."""
    count = 6000  # between the exact small numbers and the large ones, where a bare HyperLogLog is worst
    errors = [count_visitors(add_visitors(None, visitors(count, seed))) / count - 1 for seed in range(60)]
    assert abs(statistics.mean(errors)) < STANDARD_ERROR / 2
    assert statistics.pstdev(errors) < 1.3 * STANDARD_ERROR


@given(
    seed=some.integers(0, 9),
    count=some.one_of(some.sampled_from(NEAR_THE_LIMIT), some.integers(0, 1000)),
    ends=some.lists(some.integers(0, 1000), max_size=5),
    order=some.integers(0, 2**32),
)
def test_order_groups_and_repetition_do_not_matter(
    seed: int, count: int, ends: list[int], order: int
) -> None:
    """Added in groups, united from sketches or added twice: the same visitors are the same bytes."""
    seen = visitors(count, seed)
    at_once = add_visitors(None, seen)
    any_order = random.Random(order)  # Hypothesis would draw each place of each order by itself
    any_order.shuffle(seen)
    groups = parts(seen, ends)
    any_order.shuffle(groups)
    one_by_one: bytes | None = None
    for group in [*groups, *groups[:2]]:
        one_by_one = add_visitors(one_by_one, group)
    assert one_by_one == at_once
    assert unite_sketches(add_visitors(None, group) for group in [*groups, *groups[:2]]) == at_once
    assert unite_sketches([at_once, at_once]) == at_once


def test_no_sketch_has_no_visitors() -> None:
    """A day from before visitors were counted."""
    assert count_visitors(None) == 0
    assert count_visitors(unite_sketches([])) == 0


EXACT = add_visitors(None, [1, 2, 3])


@cache
def estimated() -> bytes:
    """A sketch of a thousand visitors. Made late: counting so many loads numpy."""
    return add_visitors(None, range(1000))


BAD: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "no known kind": lambda: b"\x00",
    "exact, of another kind": lambda: b"\x03" + EXACT[1:],
    "exact, cut": lambda: EXACT[:-1],
    "one hash twice": lambda: EXACT + EXACT[-4:],
    "not in order": lambda: EXACT[:1] + EXACT[5:9] + EXACT[1:5],
    "too many hashes": lambda: b"\x01" + b"".join(each.to_bytes(4, "big") for each in range(EXACT_UP_TO + 1)),
    "no registers": lambda: b"\x02",
    "not packed": lambda: b"\x02not packed",
    "estimated, cut": lambda: estimated()[:-1],
    "estimated, and more": lambda: estimated() + b"\x00",
    "a register less": lambda: b"\x02" + zlib.compress(bytes(4095)),
    "a register more": lambda: b"\x02" + zlib.compress(bytes(4097)),
    "a bomb": lambda: b"\x02" + zlib.compress(bytes(100_000_000), 1),
    "too many zero bits": lambda: b"\x02" + zlib.compress(bytes([54]) * 4096),
}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_what_is_no_sketch_is_refused(make: Callable[[], bytes]) -> None:
    """By every function: nothing that an archive holds is taken for a count without a look."""
    bad = make()
    with pytest.raises(ValueError, match="not a sketch"):
        check_sketch(bad)
    with pytest.raises(ValueError, match="not a sketch"):
        count_visitors(bad)
    with pytest.raises(ValueError, match="not a sketch"):
        add_visitors(bad, [1])
    with pytest.raises(ValueError, match="not a sketch"):
        unite_sketches([EXACT, bad])


beginnings = some.deferred(lambda: some.sampled_from([b"", b"\x01", b"\x02", estimated()[:40], EXACT]))


@given(some.binary(max_size=60), beginnings)
def test_random_bytes_are_a_sketch_or_a_value_error(tail: bytes, head: bytes) -> None:
    """Nothing else is raised, so that a reader of archives can name the line."""
    try:
        check_sketch(head + tail)
    except ValueError:
        return
    assert count_visitors(head + tail) <= EXACT_UP_TO


def test_few_visitors_need_no_numpy() -> None:
    """A service with small links does not pay for the library: it is loaded with the first large number."""
    program = (
        "import sys; from backend.storage.visitor_sketches import *\n"
        "count_visitors(add_visitors(add_visitors(None, range(200)), range(256)))\n"
        "assert 'numpy' not in sys.modules\n"
        "count_visitors(add_visitors(None, range(257)))\n"
        "assert 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

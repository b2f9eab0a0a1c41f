"""Sketches of visitors: how many different ones there were, in about as many bytes as a page of text.

A sketch is bytes that are stored with a day's counts. It holds the hashes of up to EXACT_UP_TO visitors,
which are counted exactly, and beyond that a HyperLogLog, which estimates (decisions, "unique-visitors"). The
same visitors give the same bytes, in whatever order, groups or repetition they are added.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import Any

from backend.domain.visitors import HASH_BYTES

EXACT_UP_TO = 256
# Of an estimate beyond EXACT_UP_TO: two of three lie within it, nineteen of twenty within twice as much.
STANDARD_ERROR = 1.04 / 4096**0.5

_EXACT, _HYPERLOGLOG = b"\x01", b"\x02"  # the first byte: what follows it
_REGISTERS = 4096
# A register counts the zero bits at the start of what 12 of 64 bits leave, and one more.
_POSSIBLE_REGISTERS = bytes(range(64 - 12 + 2))
_FASTEST = 1  # of zlib; the slower levels save some forty bytes and take four times as long


def add_visitors(sketch: bytes | None, hashes: Iterable[int]) -> bytes:
    """The sketch of these visitors and of those that `sketch` holds.

    `hashes` are results of `visitor_hash`. Raises ValueError if `sketch` is not one.
    """
    if sketch is not None and sketch[:1] == _HYPERLOGLOG:
        return _dump(_with(_load(sketch), hashes))
    seen = set(hashes)
    if sketch is not None:
        seen.update(_exact_hashes(sketch))
    if len(seen) > EXACT_UP_TO:
        return _dump(_with(_new_counter(), seen))
    return _EXACT + struct.pack(f">{len(seen)}I", *sorted(seen))


def unite_sketches(sketches: Iterable[bytes]) -> bytes:
    """The sketch of all visitors that these sketches of one day hold. Raises ValueError if one is not valid.

    Hashes of two days have nothing in common: add up their estimates instead.
    """
    seen: set[int] = set()
    counters = []
    for sketch in sketches:
        if sketch[:1] == _HYPERLOGLOG:
            counters.append(_load(sketch))
        else:
            seen.update(_exact_hashes(sketch))
    if not counters:
        return add_visitors(None, seen)
    first, *others = counters
    first.update(*others)
    return _dump(_with(first, seen))


def count_visitors(sketch: bytes | None) -> int:
    """How many visitors a sketch holds: exactly up to EXACT_UP_TO, else an estimate. None holds none.

    Raises ValueError if it is not a sketch.
    """
    if sketch is None:
        return 0
    if sketch[:1] == _HYPERLOGLOG:
        return len(_load(sketch))
    return len(_exact_hashes(sketch))


def check_sketch(sketch: bytes) -> None:
    """Raise ValueError if this is not a sketch, as in a forged archive."""
    if sketch[:1] == _HYPERLOGLOG:
        _registers(sketch)
    else:
        _exact_hashes(sketch)


def _exact_hashes(sketch: bytes) -> tuple[int, ...]:
    count, rest = divmod(len(sketch) - 1, HASH_BYTES)
    if sketch[:1] != _EXACT or rest or count > EXACT_UP_TO:
        raise ValueError("not a sketch of visitors")
    hashes = struct.unpack_from(f">{count}I", sketch, 1)
    if list(hashes) != sorted(set(hashes)):
        raise ValueError("not a sketch of visitors: its hashes are not in order")
    return hashes


def _registers(sketch: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        registers = unpacker.decompress(sketch[1:], _REGISTERS + 1)
    except zlib.error as error:
        raise ValueError("not a sketch of visitors: it can't be unpacked") from error
    if not unpacker.eof or unpacker.unused_data or len(registers) != _REGISTERS:
        raise ValueError("not a sketch of visitors: it has another length")
    if registers.translate(None, _POSSIBLE_REGISTERS):
        raise ValueError("not a sketch of visitors: no hash has so many zero bits")
    return registers


def _new_counter() -> Any:
    # Imported late: with numpy it takes 20 MB and a quarter of a second, and most links have few visitors.
    from hyperloglog import HyperLogLog  # noqa: PLC0415

    counter = HyperLogLog(STANDARD_ERROR * 1.001)  # rounded up to a power of two: 4096, not the one above
    if len(counter.M) != _REGISTERS:
        raise AssertionError("hyperloglog chose another number of registers")
    return counter


def _with(counter: Any, hashes: Iterable[int]) -> Any:
    for each in hashes:
        counter.add(each)
    return counter


def _load(sketch: bytes) -> Any:
    counter = _new_counter()
    counter.M[:] = memoryview(_registers(sketch))
    return counter


def _dump(counter: Any) -> bytes:
    return _HYPERLOGLOG + zlib.compress(counter.M.astype("int8").tobytes(), _FASTEST)

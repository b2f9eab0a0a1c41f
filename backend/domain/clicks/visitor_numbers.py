"""Numbers that stand in place of visitors' hashes once the single clicks of a day have expired.

Each hash has a number of its own, so that visitors stay as distinct as they were. The number follows from a
key. Without the key, a number says nothing about its hash (decisions, "expired-days").
"""

from __future__ import annotations

import hashlib

from backend.domain.clicks.visitor_hashes import HASH_BYTES, HIGHEST_HASH

HIGHEST_NUMBER = HIGHEST_HASH
_HALF = 4 * HASH_BYTES  # bits
_LOW = (1 << _HALF) - 1
# Four rounds of a Feistel network, with functions that nobody can guess, are as good as a random order.
_ROUNDS = 4


class VisitorNumbers:
    """The numbers of all hashes, under a key of random bytes."""

    def __init__(self, key: bytes) -> None:
        size = HASH_BYTES // 2 << _HALF
        values = hashlib.shake_256(key).digest(_ROUNDS * size)
        self._functions = [values[start : start + size] for start in range(0, _ROUNDS * size, size)]

    def of(self, hashed: int) -> int:
        """The number of this hash, from 0 to HIGHEST_NUMBER. No other hash has the same number."""
        left, right = hashed >> _HALF, hashed & _LOW
        for function in self._functions:
            left, right = right, left ^ (function[2 * right] << 8 | function[2 * right + 1])
        return left << _HALF | right

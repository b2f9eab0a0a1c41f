"""Merkle trees as in RFC 6962 (Certificate Transparency), section 2.1: one hash for many leaves in order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

_LEAF, _NODE = b"\x00", b"\x01"


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The Merkle Tree Hash of these leaves. Only one hash for each level of the tree is held in memory."""
    # The roots of whole trees, each of half as many leaves as the one before it or fewer: (leaves, root).
    whole: list[tuple[int, bytes]] = []
    for leaf in leaves:
        size, root = 1, hashlib.sha256(_LEAF + leaf).digest()
        while whole and whole[-1][0] == size:
            size, root = size * 2, _node(whole.pop()[1], root)
        whole.append((size, root))
    if not whole:
        return hashlib.sha256(b"").digest()
    _, root = whole.pop()
    while whole:
        root = _node(whole.pop()[1], root)
    return root


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(_NODE + left + right).digest()

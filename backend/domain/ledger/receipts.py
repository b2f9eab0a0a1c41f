"""Receipts: what a block of the ledger was when it was stored, and which one was before it in its log.

A receipt's hash depends on nothing that may change: neither on how the clicks are compressed, nor on whether
the block was merged with others since. Each receipt has the hash of the one before it, so that the receipts
of an organization in a log are a chain.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from backend.domain.ids import OrgId

_ID = re.compile(r"([^/]+)/(0|[1-9][0-9]{0,18})/(\d{4}-\d\d-\d\d)", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Receipt:
    """`block` is the block's id without the organization's, as `log/position/day`.

    `clicks` is how many requests it has, and `counted` how many of them count as clicks. `content` is the
    SHA-256 of them all (domain/clicks/block), and `previous` the hash of the receipt before it in the log;
    None for the first one of the organization there.
    """

    block: str
    clicks: int
    counted: int
    content: str
    previous: str | None

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Receipt:
        """The receipt in these fields; others are ignored. Raises ValueError if they are no receipt."""
        block, content, previous = (fields.get(name) for name in ("block", "content", "previous"))
        clicks, counted = fields.get("clicks"), fields.get("counted")
        is_named = isinstance(block, str) and _ID.fullmatch(block)
        is_count = type(clicks) is int and type(counted) is int and 0 <= counted <= clicks
        is_hash = isinstance(content, str) and _HASH.fullmatch(content)
        is_chained = previous is None or (isinstance(previous, str) and _HASH.fullmatch(previous))
        if not (is_named and is_count and is_hash and is_chained):
            raise ValueError("is no receipt of a block")
        receipt = cls(str(block), int(clicks or 0), int(counted or 0), str(content), previous)
        _ = receipt.day
        return receipt

    @property
    def log(self) -> str:
        """The log that the block comes from."""
        return self.block.split("/")[0]

    @property
    def order(self) -> tuple[int, str]:
        """What the receipts of a log are sorted by: position and day."""
        _, position, day = self.block.split("/")
        return int(position), day

    @property
    def day(self) -> date:
        """The day in UTC of its clicks."""
        return date.fromisoformat(self.block.split("/")[2])

    def hash(self, org_id: OrgId) -> str:
        """The SHA-256 of all fields and of the organization's id, in hexadecimal digits."""
        return hashlib.sha256(canonical({"org": org_id, **asdict(self)})).hexdigest()


def canonical(value: Mapping[str, Any]) -> bytes:
    """The one text of an object that is hashed and signed.

    It is JSON with sorted names, without spaces, and with everything but ASCII as `\\u` and four digits.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")

"""Statements: what the ledger of an organization had at the end of a day, to be signed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from backend.domain.ids import OrgId
from backend.domain.ledger.merkle import root_of
from backend.domain.ledger.receipts import Receipt, canonical

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Statement:
    """The ledger's blocks that entered an organization's feed until the end of a day in UTC.

    These are the blocks in the feed's places from `first_place` to `last_place`, in this order. `blocks` is
    their number, `clicks` the number of their requests, and `counted` the number of requests that count as
    clicks. `root` is the Merkle root over the hashes of their receipts. `previous` is the digest of the
    organization's statement before this one, and `key` the public key, in hexadecimal digits, with which
    this one is signed.
    """

    org_id: OrgId
    day: str
    first_place: int
    last_place: int
    blocks: int
    clicks: int
    counted: int
    root: str
    previous: str | None
    key: str

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Statement:
        """The statement in these fields; others are ignored. Raises ValueError if they are no statement."""
        names = cls.__slots__
        if not fields.keys() >= set(names):
            raise ValueError("is no statement")
        numbers = [fields[name] for name in ("first_place", "last_place", "blocks", "clicks", "counted")]
        previous = fields["previous"]
        digests = [fields["root"], fields["key"], *([] if previous is None else [previous])]
        if any(type(number) is not int or number < 0 for number in numbers):
            raise ValueError("is no statement")
        if not all(isinstance(digest, str) and _HASH.fullmatch(digest) for digest in digests):
            raise ValueError("is no statement")
        if not isinstance(fields["org_id"], str) or not isinstance(fields["day"], str):
            raise ValueError("is no statement")
        date.fromisoformat(fields["day"])
        return cls(**{name: fields[name] for name in names})

    @property
    def text(self) -> bytes:
        """What is signed."""
        return canonical(asdict(self))

    @property
    def digest(self) -> str:
        """The SHA-256 of what is signed, in hexadecimal digits: what the next statement names."""
        return hashlib.sha256(self.text).hexdigest()


class Sums:
    """Sums of receipts for a statement. Receipts are added in the order of their places."""

    def __init__(self, org_id: OrgId) -> None:
        self.clicks = 0
        self.counted = 0
        self._org_id = org_id
        self._leaves: list[bytes] = []

    @property
    def blocks(self) -> int:
        """The number of receipts."""
        return len(self._leaves)

    def add(self, receipt: Receipt) -> None:
        """Add the next receipt."""
        self.clicks += receipt.clicks
        self.counted += receipt.counted
        self._leaves.append(bytes.fromhex(receipt.hash(self._org_id)))

    def fields(self) -> dict[str, int | str]:
        """The fields of a statement that follow from the receipts."""
        return {
            "blocks": self.blocks,
            "clicks": self.clicks,
            "counted": self.counted,
            "root": root_of(self._leaves).hex(),
        }

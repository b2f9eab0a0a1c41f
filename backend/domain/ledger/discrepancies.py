"""What a check of a ledger finds wrong, and what each of it means."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DiscrepancyKind(StrEnum):
    """What is wrong. The values are stable: programs may go by them."""

    SIGNATURE = "signature"
    UNKNOWN_KEY = "unknown_key"
    STATEMENT_CHAIN = "statement_chain"
    KEPT_STATEMENT = "kept_statement"
    ROOT = "root"
    TOTALS = "totals"
    CONTENT = "content"
    MISSING_BLOCK = "missing_block"
    ADDED_BLOCK = "added_block"
    REPEATED_BLOCK = "repeated_block"
    CHAIN = "chain"
    UNSIGNED_DAY = "unsigned_day"
    MALFORMED = "malformed"


MEANING = {
    DiscrepancyKind.SIGNATURE: "The statement was changed after it was signed, or this key did not sign it.",
    DiscrepancyKind.UNKNOWN_KEY: "The statement is signed, but with none of the keys that you named.",
    DiscrepancyKind.STATEMENT_CHAIN: "A statement was taken out, put in, or replaced.",
    DiscrepancyKind.KEPT_STATEMENT: "You have another statement for this day: there are two sets of books.",
    DiscrepancyKind.ROOT: "The blocks of the day are not those that were signed: some were taken out, put "
    "in, changed, or put into another order.",
    DiscrepancyKind.TOTALS: "The statement's own totals are not those of its blocks.",
    DiscrepancyKind.CONTENT: "The clicks of the block are not those that were stored: clicks were taken out, "
    "put in, or changed.",
    DiscrepancyKind.MISSING_BLOCK: "The block was taken out, though its clicks were to be kept longer.",
    DiscrepancyKind.ADDED_BLOCK: "The block was put in: nothing says that it was ever stored.",
    DiscrepancyKind.REPEATED_BLOCK: "The same block is there twice.",
    DiscrepancyKind.CHAIN: "The block does not follow the one before it in its log: a block was taken out, "
    "put in, or changed.",
    DiscrepancyKind.UNSIGNED_DAY: "The day had ended, but no statement signs it, so nothing is proved of its "
    "clicks. The service signs a day some minutes after its end: where it did not run, start it, and export "
    "again.",
    DiscrepancyKind.MALFORMED: "The service does not write such a thing.",
}


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Something wrong: what kind of thing, where, and what was expected and found there."""

    kind: DiscrepancyKind
    where: str
    details: str

    @property
    def meaning(self) -> str:
        """What it means for whoever relies on the counts."""
        return MEANING[self.kind]

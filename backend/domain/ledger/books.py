"""Books: what somebody shows of an organization's ledger, and the check that nothing was changed in it.

The check needs the books alone. It follows three chains: from the clicks of each block to its receipt, from
each receipt to the one before it in its log, and from all receipts of a day to the signed statement, which
names the statement before it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from backend.domain.clicks.block import Content
from backend.domain.ids import OrgId
from backend.domain.ledger.discrepancies import Discrepancy, DiscrepancyKind
from backend.domain.ledger.receipts import Receipt
from backend.domain.ledger.statements import Statement, Sums

# Whether this key, in hexadecimal digits, has signed this text with this signature.
IsSigned = Callable[[str, bytes, str], bool]


@dataclass(frozen=True, slots=True)
class SignedStatement:
    """A statement and its signature, in hexadecimal digits."""

    statement: Statement
    signature: str


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """The clicks of a block that are there: how many they are, and their content."""

    clicks: int
    content: Content


@dataclass(slots=True)
class Books:
    """What is shown of an organization's ledger.

    `placed` has the receipts by their place in the feed, and `waiting` those that have none yet. `stored_on`
    has the day in UTC on which each block was stored. `blocks` has the blocks that are there by their ids,
    and `unreadable` the ids of those that can't be read.
    """

    org_id: OrgId
    placed: dict[int, list[Receipt]] = field(default_factory=dict)
    waiting: list[Receipt] = field(default_factory=list)
    stored_on: dict[str, date] = field(default_factory=dict)
    blocks: dict[str, ShownBlock] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    statements: list[SignedStatement] = field(default_factory=list)

    def receipts(self) -> Iterator[Receipt]:
        """All receipts, in the order of the feed."""
        for place in sorted(self.placed):
            yield from self.placed[place]
        yield from self.waiting


@dataclass(slots=True)
class BlockTotals:
    """So many blocks, with so many requests, of which so many count as clicks."""

    blocks: int = 0
    clicks: int = 0
    counted: int = 0

    def add(self, receipt: Receipt) -> None:
        """Add a block."""
        self.blocks += 1
        self.clicks += receipt.clicks
        self.counted += receipt.counted


@dataclass(slots=True)
class CheckResult:
    """What a check of books found.

    `expired` and `unreadable` are blocks whose clicks are gone, or can't be read, but whose numbers are in
    their receipts. `faded` are blocks of which only the signed numbers are left, since receipts are deleted
    some time after their clicks. `unsigned` are the blocks after the last statement, of a day that goes on.
    """

    findings: list[Discrepancy] = field(default_factory=list)
    proved: BlockTotals = field(default_factory=BlockTotals)
    expired: BlockTotals = field(default_factory=BlockTotals)
    unreadable: BlockTotals = field(default_factory=BlockTotals)
    faded: BlockTotals = field(default_factory=BlockTotals)
    unsigned: BlockTotals = field(default_factory=BlockTotals)
    faded_days: set[str] = field(default_factory=set)  # of statements

    def report(self, kind: DiscrepancyKind, where: str, details: str) -> None:
        """Note something wrong."""
        self.findings.append(Discrepancy(kind, where, details))


def check_books(
    books: Books,
    is_signed: IsSigned,
    *,
    has_expired: Callable[[date], bool],
    has_ended: Callable[[date], bool],
    keys: Collection[str] = (),
    kept: Sequence[Statement] = (),
) -> CheckResult:
    """Check the books. `is_signed` checks a signature.

    `has_expired` says whether clicks of a day need not be there any more, and `has_ended` whether what was
    stored on a day has to be signed. `keys` are the only public keys to
    trust, if there are any; `kept` are statements that were handed over before.
    """
    checked = CheckResult()
    _check_blocks(books, checked, has_expired)
    _check_statements(books, checked, is_signed, keys, has_expired)
    _check_unsigned(books, checked, has_ended)
    _check_chains(books, checked)
    _check_kept(books, checked, kept)
    return checked


def _check_blocks(books: Books, checked: CheckResult, has_expired: Callable[[date], bool]) -> None:
    """Compare the clicks of each block with its receipt."""
    block_ids: set[str] = set()
    for receipt in books.receipts():
        if receipt.block in block_ids:
            checked.report(DiscrepancyKind.REPEATED_BLOCK, receipt.block, "it has two receipts")
            continue
        block_ids.add(receipt.block)
        block = books.blocks.get(receipt.block)
        if block is not None:
            _compare(receipt, block, checked)
        elif receipt.block in books.unreadable:
            checked.unreadable.add(receipt)
        elif has_expired(receipt.day):
            checked.expired.add(receipt)
        else:
            details = f"{receipt.clicks} requests, of which {receipt.counted} counted"
            checked.report(DiscrepancyKind.MISSING_BLOCK, receipt.block, details)
    for block_id in sorted((books.blocks.keys() | books.unreadable) - block_ids):
        if has_expired(date.fromisoformat(block_id.rsplit("/", 1)[1])):  # its receipt went first
            continue
        checked.report(DiscrepancyKind.ADDED_BLOCK, block_id, "it has no receipt")


def _compare(receipt: Receipt, block: ShownBlock, checked: CheckResult) -> None:
    expected = (receipt.clicks, receipt.counted, receipt.content)
    actual = (block.clicks, block.content.counted, block.content.sha256)
    if expected == actual:
        checked.proved.add(receipt)
        return
    details = (
        f"stored were {receipt.clicks} requests, of which {receipt.counted} counted; "
        f"there are {block.clicks}, of which {block.content.counted} count"
    )
    checked.report(DiscrepancyKind.CONTENT, receipt.block, details)


def _check_chains(books: Books, checked: CheckResult) -> None:
    """Look whether each receipt names the one before it in its log."""
    logs: defaultdict[str, list[Receipt]] = defaultdict(list)
    for receipt in books.receipts():
        logs[receipt.log].append(receipt)
    for receipts in logs.values():
        ordered = sorted(receipts, key=lambda receipt: receipt.order)
        # The log's first receipts may be deleted. Statements still have the totals of their blocks.
        before = ordered[0].previous if checked.faded_days else None
        for receipt in ordered:
            if receipt.previous != before:
                expected = before or "nothing, as the first of its log"
                details = f"it names {receipt.previous or 'nothing'} as the one before it, not {expected}"
                checked.report(DiscrepancyKind.CHAIN, receipt.block, details)
            before = receipt.hash(books.org_id)


def _check_statements(
    books: Books,
    checked: CheckResult,
    is_signed: IsSigned,
    keys: Collection[str],
    has_expired: Callable[[date], bool],
) -> None:
    """Check signatures, that statements follow each other, and that each says what its places have."""
    before: Statement | None = None
    places = sorted(books.placed)
    for signed in sorted(books.statements, key=lambda signed: signed.statement.day):
        statement = signed.statement
        if not is_signed(statement.key, statement.text, signed.signature):
            checked.report(
                DiscrepancyKind.SIGNATURE, statement.day, f"the signature is not by {statement.key}"
            )
        if keys and statement.key not in keys:
            checked.report(DiscrepancyKind.UNKNOWN_KEY, statement.day, f"it is signed by {statement.key}")
        if statement.org_id != books.org_id:
            checked.report(DiscrepancyKind.STATEMENT_CHAIN, statement.day, "it is another organization's")
        _check_order(statement, before, checked)
        sums = _sums(books, places, statement)
        if sums.blocks < statement.blocks and has_expired(date.fromisoformat(statement.day)):
            checked.faded_days.add(statement.day)
            checked.faded.blocks += statement.blocks - sums.blocks
            checked.faded.clicks += statement.clicks - sums.clicks
            checked.faded.counted += statement.counted - sums.counted
        else:
            _check_sums(statement, sums.fields(), checked)
        before = statement


def _check_unsigned(books: Books, checked: CheckResult, has_ended: Callable[[date], bool]) -> None:
    """Look at what no statement is about: what was stored on a day that has ended had to be signed."""
    last = max((signed.statement.last_place for signed in books.statements), default=0)
    unsigned = [receipt for place in sorted(books.placed) if place > last for receipt in books.placed[place]]
    ended: defaultdict[date, BlockTotals] = defaultdict(BlockTotals)
    for receipt in (*unsigned, *books.waiting):
        day = books.stored_on.get(receipt.block, receipt.day)
        (ended[day] if has_ended(day) else checked.unsigned).add(receipt)
    for day, totals in sorted(ended.items()):
        details = f"{totals.blocks} blocks with {totals.clicks} requests, of which {totals.counted} counted"
        checked.report(DiscrepancyKind.UNSIGNED_DAY, day.isoformat(), details)


def _check_order(statement: Statement, before: Statement | None, checked: CheckResult) -> None:
    if statement.previous != (before.digest if before else None):
        named = before.day if before else "nothing, as the first one"
        checked.report(DiscrepancyKind.STATEMENT_CHAIN, statement.day, f"it does not follow {named}")
    if statement.first_place != (before.last_place + 1 if before else 1):
        checked.report(
            DiscrepancyKind.STATEMENT_CHAIN, statement.day, "its places do not follow those before it"
        )
    if before and statement.day <= before.day:
        checked.report(DiscrepancyKind.STATEMENT_CHAIN, statement.day, "there are two for this day")


def _sums(books: Books, places: Sequence[int], statement: Statement) -> Sums:
    """What the statement should say; `places` are all that there are, in their order."""
    sums = Sums(books.org_id)
    first, end = bisect_left(places, statement.first_place), bisect_right(places, statement.last_place)
    for place in places[first:end]:
        for receipt in books.placed[place]:
            sums.add(receipt)
    return sums


def _check_sums(statement: Statement, sums: Mapping[str, int | str], checked: CheckResult) -> None:
    names = ("blocks", "clicks", "counted")
    wrong = [
        f"{getattr(statement, name)} {name} signed, {sums[name]} there"
        for name in names
        if getattr(statement, name) != sums[name]
    ]
    if statement.root != sums["root"]:
        details = ", ".join(wrong) or "as many blocks and clicks as were signed, but others"
        checked.report(DiscrepancyKind.ROOT, statement.day, details)
    elif wrong:
        checked.report(DiscrepancyKind.TOTALS, statement.day, ", ".join(wrong))


def _check_kept(books: Books, checked: CheckResult, kept: Sequence[Statement]) -> None:
    shown = {signed.statement.day: signed.statement for signed in books.statements}
    for statement in kept:
        if shown.get(statement.day) != statement:
            there = "another one" if statement.day in shown else "none"
            checked.report(DiscrepancyKind.KEPT_STATEMENT, statement.day, f"there is {there} in the file")

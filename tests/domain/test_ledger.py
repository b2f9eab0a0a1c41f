"""The ledger's proof: any change of what was signed is found."""

from __future__ import annotations

import copy
import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from backend.domain.clicks.block import block_of, contents, merged, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.ledger.books import Books, ShownBlock, SignedStatement, check_books
from backend.domain.ledger.discrepancies import DiscrepancyKind
from backend.domain.ledger.merkle import root_of
from backend.domain.ledger.receipts import Receipt
from backend.domain.ledger.statements import Statement, Sums
from backend.storage.ledger.ed25519 import is_signed, public_key, sign
from tests.examples import examples
from tests.facts.clicks import click

ORG = OrgId(str(uuid.UUID(int=1)))
DAY = datetime(2026, 5, 6, 12, tzinfo=UTC)
SECRET = b"s" * 32
LINKS = [LinkId(f"link-{number}") for number in range(3)]
VALUES = some.sampled_from([None, "a", "ü"])


def naive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962's definition of the Merkle Tree Hash, word for word."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    parts = naive_root(leaves[:split]) + naive_root(leaves[split:])
    return hashlib.sha256(b"\x01" + parts).digest()


@given(some.lists(some.binary(max_size=4), max_size=40))
def test_the_tree_is_the_standard_one(leaves: list[bytes]) -> None:
    """Its root is as RFC 6962 defines it, for any number of leaves."""
    assert root_of(leaves) == naive_root(leaves)


@some.composite
def clicks(draw: some.DrawFn) -> list[Click]:
    """Some clicks of a day, in any order of time."""
    made = some.builds(
        lambda link, second, country, host, reason, variant, visitor: click(
            ORG,
            link,
            DAY + timedelta(seconds=second),
            country=country,
            referrer_host=host,
            reason=reason,
            variant=variant,
            visitor=visitor,
        ),
        some.sampled_from(LINKS),
        some.integers(0, 9_999),
        VALUES,
        VALUES,
        some.sampled_from([None, "bot"]),
        VALUES,
        some.none() | some.integers(1, 9),
    )
    return draw(some.lists(made, min_size=1, max_size=6))


@given(some.lists(clicks(), min_size=1, max_size=5))
def test_a_merge_keeps_what_blocks_are(parts: list[list[Click]]) -> None:
    """In a merged block, and in one that is merged again, each block is found again as it was."""
    blocks = [block_of(ORG, part) for part in parts]
    expected = [block.content for block in blocks]
    once = merged(ORG, [unpack(block.packed) for block in blocks])
    twice = merged(ORG, [unpack(once.packed), unpack(blocks[0].packed)])
    sizes = [len(part) for part in parts]
    assert contents(ORG, unpack(once.packed), sizes) == expected
    assert contents(ORG, unpack(twice.packed), [*sizes, sizes[0]]) == [*expected, expected[0]]


def books_of(parts: Sequence[list[Click]]) -> Books:
    """Books with a block for each list of clicks, in two logs by turns, of which every three are signed."""
    books, heads = Books(ORG), dict[str, str]()
    for number, part in enumerate(parts):
        log, block = f"log{number % 2}", block_of(ORG, part)
        receipt = Receipt(
            f"{log}/{number}/2026-05-06",
            block.clicks,
            block.content.counted,
            block.content.sha256,
            heads.get(log),
        )
        heads[log] = receipt.hash(ORG)
        books.placed[number + 1] = [receipt]
        books.blocks[receipt.block] = ShownBlock(block.clicks, block.content)
    for start in range(1, len(parts) - 1, 3):
        books.statements.append(signed(books, start, start + 2))
    return books


def signed(books: Books, first: int, last: int, **changes: object) -> SignedStatement:
    """A statement about these places, behind those that there are."""
    sums = Sums(ORG)
    for place in range(first, last + 1):
        for receipt in books.placed[place]:
            sums.add(receipt)
    before = books.statements[-1].statement if books.statements else None
    fields = {
        "org_id": ORG,
        "day": f"{date(2026, 5, 6) + timedelta(days=len(books.statements))}",
        "first_place": first,
        "last_place": last,
        "previous": before.digest if before else None,
        "key": public_key(SECRET),
        **sums.fields(),
    }
    statement = Statement.of(fields | changes)
    return SignedStatement(statement, sign(SECRET, statement.text))


GOING_ON: dict[str, object] = {"has_expired": lambda _: False, "has_ended": lambda _: False}


def kinds(books: Books, **options: object) -> set[DiscrepancyKind]:
    """What is wrong with the books."""
    checked = check_books(books, is_signed, **(GOING_ON | options))  # type: ignore[arg-type]
    return {finding.kind for finding in checked.findings}


def without(books: Books, place: int, _: Books) -> None:
    """A block is taken out with its receipt."""
    (receipt,) = books.placed.pop(place)
    del books.blocks[receipt.block]


def without_clicks(books: Books, place: int, _: Books) -> None:
    """A block is taken out, and its receipt stays."""
    del books.blocks[books.placed[place][0].block]


def put_in(books: Books, place: int, _: Books) -> None:
    """A block is put in, with a receipt that fits to the chain."""
    block = next(iter(books.blocks.values()))
    receipt = Receipt("new/0/2026-05-06", block.clicks, block.content.counted, block.content.sha256, None)
    books.blocks[receipt.block] = block
    books.placed[place].append(receipt)


def changed(books: Books, place: int, _: Books) -> None:
    """Another click is in a block, and its receipt says so."""
    receipt = books.placed[place][0]
    block = block_of(ORG, [click(ORG, LinkId("another"), DAY)])
    books.blocks[receipt.block] = ShownBlock(block.clicks, block.content)
    books.placed[place] = [
        replace(receipt, clicks=1, counted=block.content.counted, content=block.content.sha256)
    ]


def counted_up(books: Books, place: int, _: Books) -> None:
    """A receipt counts a request more."""
    receipt = books.placed[place][0]
    books.placed[place] = [replace(receipt, clicks=receipt.clicks + 1, counted=receipt.counted + 1)]


def swapped(books: Books, place: int, _: Books) -> None:
    """Two blocks change their places."""
    other = place % 3 + 1
    books.placed[place], books.placed[other] = books.placed[other], books.placed[place]


def statement_gone(books: Books, place: int, _: Books) -> None:
    """A statement in the middle is taken out."""
    del books.statements[0]


def totals_changed(books: Books, place: int, _: Books) -> None:
    """A statement says more clicks."""
    first = books.statements[0]
    books.statements[0] = replace(first, statement=replace(first.statement, counted=99))


def signed_by_another(books: Books, place: int, whole: Books) -> None:
    """A statement is signed by another key in the name of the first."""
    first = books.statements[0]
    books.statements[0] = replace(first, signature=sign(b"o" * 32, first.statement.text))


CHANGES: list[Callable[[Books, int, Books], None]] = [
    without, without_clicks, put_in, changed, counted_up, swapped, statement_gone, totals_changed,
    signed_by_another,
]  # fmt: skip


@settings(max_examples=examples(8))
@given(some.lists(clicks(), min_size=7, max_size=9), some.integers(1, 3), some.sampled_from(CHANGES))
def test_any_change_is_found(
    parts: list[list[Click]], place: int, change: Callable[[Books, int, Books], None]
) -> None:
    """Whatever is taken out, put in, changed or moved of what was signed is found; whole books are right."""
    books = books_of(parts)
    assert kinds(books) == set()
    forged = copy.deepcopy(books)
    change(forged, place, books)
    assert kinds(forged)


@given(clicks(), some.data())
def test_any_other_click_is_another_content(made: list[Click], data: some.DataObject) -> None:
    """Each field of each click is in what is signed, and so is their order."""
    content = block_of(ORG, made).content
    number = data.draw(some.integers(0, len(made) - 1))
    other = data.draw(clicks())[0]
    assert (block_of(ORG, [*made[:number], other, *made[number + 1 :]]).content == content) is (
        made[number] == other
    )
    assert block_of(ORG, [*made, other]).content != content
    if made != made[::-1]:
        assert block_of(ORG, made[::-1]).content != content


def test_books_that_are_made_anew() -> None:
    """Who has the key can sign a forged past: who has kept the key's statements sees that."""
    parts = [[click(ORG, LINKS[0], DAY + timedelta(seconds=n))] for n in range(7)]
    books, forged = books_of(parts), books_of([*parts[:2], *parts[3:], parts[2]])
    kept = [signed_statement.statement for signed_statement in books.statements]
    assert kinds(forged) == set()
    assert kinds(forged, kept=kept) == {DiscrepancyKind.KEPT_STATEMENT}
    assert kinds(books, kept=kept) == set()
    assert kinds(books, keys=[public_key(SECRET)]) == set()
    assert kinds(books, keys=[public_key(b"o" * 32)]) == {DiscrepancyKind.UNKNOWN_KEY}


def test_a_day_that_has_ended_is_signed() -> None:
    """What was stored then and is in no statement is wrong, whatever keys are trusted; today's is not."""
    books = books_of([[click(ORG, LINKS[0], DAY + timedelta(seconds=n))] for n in range(8)])
    today = DAY.date() + timedelta(days=9)
    assert kinds(books, has_ended=lambda day: day < today) == {DiscrepancyKind.UNSIGNED_DAY}
    for receipt in [receipt for receipts in books.placed.values() for receipt in receipts]:
        books.stored_on[receipt.block] = today  # clicks that a host kept until then
    assert kinds(books, has_ended=lambda day: day < today) == set()
    books.stored_on.clear()
    books.statements.clear()
    checked = check_books(
        books, is_signed, has_expired=lambda _: False, has_ended=lambda _: True, keys=[public_key(SECRET)]
    )
    [finding] = checked.findings
    assert (finding.kind, finding.where) == (DiscrepancyKind.UNSIGNED_DAY, DAY.date().isoformat())
    assert "8 requests" in finding.details


def test_what_has_expired_is_told_apart() -> None:
    """Clicks that expired are no finding, nor receipts that went with them: their numbers are signed."""
    books = books_of([[click(ORG, LINKS[0], DAY + timedelta(seconds=n))] for n in range(8)])
    books.blocks.clear()
    checked = check_books(books, is_signed, has_expired=lambda _: True, has_ended=lambda _: False)
    assert (checked.findings, checked.expired.clicks, checked.unsigned.clicks) == ([], 8, 2)
    del books.placed[1], books.placed[2], books.placed[3], books.placed[4]
    checked = check_books(books, is_signed, has_expired=lambda _: True, has_ended=lambda _: False)
    assert (checked.findings, checked.faded.clicks, checked.expired.clicks) == ([], 4, 4)
    assert kinds(books) == {DiscrepancyKind.ROOT, DiscrepancyKind.MISSING_BLOCK, DiscrepancyKind.CHAIN}


def test_signatures_are_those_of_the_standard() -> None:
    """A key and a signature of RFC 8032 (7.1, test 2) are ours."""
    secret = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    key = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    signature = (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    assert (public_key(secret), sign(secret, b"\x72")) == (key, signature)
    assert is_signed(key, b"\x72", signature)
    assert not is_signed(key, b"\x73", signature)
    assert not is_signed("no key", b"\x72", signature)


@pytest.mark.parametrize(
    "change",
    [{"block": "a/b/c"}, {"clicks": -1}, {"counted": 9}, {"content": "x"}, {"previous": 7}, {"clicks": True}],
)
def test_what_is_no_receipt(change: dict[str, object]) -> None:
    """A receipt that the service would not write is refused."""
    good = {"block": "log/0/2026-05-06", "clicks": 2, "counted": 1, "content": "0" * 64, "previous": None}
    assert Receipt.of(good).day == date(2026, 5, 6)
    with pytest.raises(ValueError, match="no receipt"):
        Receipt.of(good | change)

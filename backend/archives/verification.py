"""Checks an archive's ledger without any database (`waylink verify`, docs/verify.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from backend.archives.archive_file import Entry, Header, check_whole, read_entries, read_header
from backend.domain.clicks.block import DAY_MS, Columns, UnreadableBlock, contents, moment, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.ledger.books import Books, CheckResult, ShownBlock, SignedStatement, check_books
from backend.domain.ledger.discrepancies import DiscrepancyKind
from backend.domain.ledger.statements import Statement
from backend.storage.clicks import blocks as click_blocks
from backend.storage.driver.mongo import Document
from backend.storage.ledger import statements
from backend.storage.ledger.ed25519 import is_signed
from backend.storage.ledger.statement_signing import receipts_of
from backend.storage.links import links
from backend.storage.outbox import entries


@dataclass(slots=True)
class ArchivedLedger:
    """The ledger of an archive.

    `clicks` has the number of requests by link and day in UTC, and `counted` the number of those that count.
    `short_urls` has domain and path of each link. `malformed` has a place and an error for each document that
    can't be read.
    """

    org_id: OrgId
    books: Books = field(init=False)
    clicks: Counter[tuple[LinkId, date]] = field(default_factory=Counter)
    counted: Counter[tuple[LinkId, date]] = field(default_factory=Counter)
    short_urls: dict[LinkId, str] = field(default_factory=dict)
    malformed: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.books = Books(self.org_id)


def read_ledger(org_id: OrgId, archive_entries: Iterable[Entry]) -> ArchivedLedger:
    """The ledger in these documents of the organization's archive."""
    ledger = ArchivedLedger(org_id)
    for entry in archive_entries:
        if reader := _READERS.get(entry.collection):
            try:
                reader(ledger, entry.document)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                own_id = str(entry.document.get("_id")).removeprefix(f"{org_id}/")
                ledger.malformed.append((f"{entry.collection} {own_id}", f"line {entry.line}: {error}"))
    return ledger


def _read_block(ledger: ArchivedLedger, document: Document) -> None:
    parts = click_blocks.parts_of(document)
    try:
        columns = unpack(document["packed"])
    except UnreadableBlock:
        ledger.books.unreadable |= {part.id for part in parts}
        return
    sizes = [part.clicks for part in parts]
    if min(sizes) < 1 or sum(sizes) != len(columns.at):
        raise ValueError("its parts do not have as many clicks as it has")
    for part, content in zip(parts, contents(ledger.org_id, columns, sizes), strict=True):
        if part.id in ledger.books.blocks:
            raise ValueError(f"the block {part.id} is there twice")
        ledger.books.blocks[part.id] = ShownBlock(part.clicks, content)
    _count(ledger, columns)


def _count(ledger: ArchivedLedger, columns: Columns) -> None:
    """Count the clicks by link and day."""
    day = moment(columns.at[0] // DAY_MS * DAY_MS).date()
    requests = Counter(columns.link)
    is_counted = [reason is None for _, reason, *_ in columns.whats]
    clicks = zip(columns.link, columns.what, strict=True)
    counting = Counter(link for link, what in clicks if is_counted[what])
    ledger.clicks.update({(columns.links[link], day): number for link, number in requests.items()})
    ledger.counted.update({(columns.links[link], day): number for link, number in counting.items()})


def _read_entry(ledger: ArchivedLedger, document: Document) -> None:
    receipts = receipts_of(document)
    place = document.get("place")
    if not receipts:
        return
    day = document["stamp"].as_datetime().date()
    ledger.books.stored_on |= {receipt.block: day for receipt in receipts}
    if type(place) is not int:
        ledger.books.waiting += receipts
    elif place in ledger.books.placed:
        raise ValueError(f"the place {place} is given twice")
    else:
        ledger.books.placed[place] = receipts


def _read_statement(ledger: ArchivedLedger, document: Document) -> None:
    ledger.books.statements.append(statements.from_document(document))


def _read_link(ledger: ArchivedLedger, document: Document) -> None:
    ledger.short_urls[LinkId(document["_id"])] = f"{document['domain']}/{document['path']}"


_READERS: Mapping[str, Callable[[ArchivedLedger, Document], None]] = {
    click_blocks.NAME: _read_block,
    entries.NAME: _read_entry,
    statements.NAME: _read_statement,
    links.NAME: _read_link,
}


# So long after its end a day is signed at the latest, where the service runs.
_SIGNED_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class LinkTotal:
    """The number of a link's single requests in the archive, and of those that count as clicks."""

    link_id: LinkId
    short_url: str | None
    requests: int
    clicks: int


@dataclass(frozen=True, slots=True)
class Verification:
    """An archive's header, the result of its ledger's check, its statements by day, and links' totals."""

    header: Header
    checked: CheckResult
    statements: Sequence[SignedStatement]
    links: Sequence[LinkTotal]


def verify_archive(
    path: Path,
    now: datetime,
    advance: Callable[[int], object],
    *,
    keys: Collection[str] = (),
    kept: Sequence[Statement] = (),
    first: date = date.min,
    last: date = date.max,
) -> Verification:
    """Check the whole ledger in this file. Totals of links are of the days from `first` to `last`.

    If there are `keys`, only these public keys are trusted. `kept` are statements that were handed over
    before. Raises UnreadableArchive.
    """
    header = read_header(path)
    check_whole(path, header, now, advance)
    ledger = read_ledger(header.org_id, read_entries(path, header))
    exported_on = header.exported_at.astimezone(UTC).date()
    oldest = exported_on - timedelta(days=header.click_days) if header.click_days else None

    def has_expired(day: date) -> bool:
        return oldest is not None and day <= oldest

    ended_before = (header.exported_at - _SIGNED_AFTER).astimezone(UTC).date()
    checked = check_books(
        ledger.books,
        is_signed,
        has_expired=has_expired,
        has_ended=lambda day: day < ended_before,
        keys=keys,
        kept=kept,
    )
    for where, details in ledger.malformed:
        checked.report(DiscrepancyKind.MALFORMED, where, details)
    ordered = sorted(ledger.books.statements, key=lambda signed: signed.statement.day)
    return Verification(header, checked, ordered, _links(ledger, first, last))


def _links(ledger: ArchivedLedger, first: date, last: date) -> list[LinkTotal]:
    requests: Counter[LinkId] = Counter()
    clicks: Counter[LinkId] = Counter()
    for of_day, total in ((ledger.clicks, requests), (ledger.counted, clicks)):
        for (link_id, day), number in of_day.items():
            if first <= day <= last:
                total[link_id] += number
    return [
        LinkTotal(link_id, ledger.short_urls.get(link_id), number, clicks[link_id])
        for link_id, number in requests.most_common()
    ]

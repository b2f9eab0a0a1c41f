"""Reads what an archive has of the ledger: its books, and the counts that the service claims."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias

from backend.archives.archive_file import Entry
from backend.domain.click_block import DAY_MS, Columns, UnreadableBlock, contents, moment, unpack
from backend.domain.ids import LinkId, OrgId
from backend.domain.ledger.books import Books, FoundBlock
from backend.storage import click_blocks, click_counts, link_deltas, links, organization_counts, statements
from backend.storage.feed import entries
from backend.storage.mongo import Document
from backend.storage.statement_signing import receipts_of

# Of a link or of the organization: what counts as clicks on a day in UTC.
SubjectDay: TypeAlias = tuple[str, date]


@dataclass(slots=True)
class ArchivedLedger:
    """The ledger of an archive.

    `clicks` has all requests that are there by link and day, `counted` those that count, and `folded` those
    of the latter that the service's counts have. `claimed` is what these counts say, and `totals` what they
    say of all days. `short_urls` has the links, as domain and path. `malformed` says what can't be read as
    the service writes it.
    """

    org_id: OrgId
    books: Books = field(init=False)
    clicks: Counter[tuple[LinkId, date]] = field(default_factory=Counter)
    counted: Counter[tuple[LinkId, date]] = field(default_factory=Counter)
    folded: Counter[SubjectDay] = field(default_factory=Counter)
    claimed: Counter[SubjectDay] = field(default_factory=Counter)
    totals: dict[str, int] = field(default_factory=dict)
    short_urls: dict[LinkId, str] = field(default_factory=dict)
    malformed: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.books = Books(self.org_id)


def read_ledger(org_id: OrgId, found: Iterable[Entry]) -> ArchivedLedger:
    """The ledger in these documents of the organization's archive."""
    ledger = ArchivedLedger(org_id)
    for entry in found:
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
        ledger.books.unreadable |= {each.id for each in parts}
        return
    sizes = [each.clicks for each in parts]
    if min(sizes) < 1 or sum(sizes) != len(columns.at):
        raise ValueError("its parts do not have as many clicks as it has")
    for part, content in zip(parts, contents(ledger.org_id, columns, sizes), strict=True):
        if part.id in ledger.books.found:
            raise ValueError(f"the block {part.id} is there twice")
        ledger.books.found[part.id] = FoundBlock(part.clicks, content)
    counted = _count(ledger, columns)
    if document["folded"] and not document.get("is_unreadable"):
        ledger.folded.update(counted)
        for (_, day), clicks in counted.items():
            ledger.folded[ledger.org_id, day] += clicks


def _count(ledger: ArchivedLedger, columns: Columns) -> Counter[tuple[LinkId, date]]:
    """Count the clicks by link and day. Returns those that count."""
    day = moment(columns.at[0] // DAY_MS * DAY_MS).date()
    requests = Counter(columns.link)
    is_counted = [reason is None for _, reason, *_ in columns.whats]
    own = zip(columns.link, columns.what, strict=True)
    counting = Counter(link for link, what in own if is_counted[what])
    ledger.clicks.update({(columns.links[link], day): number for link, number in requests.items()})
    counted = Counter({(columns.links[link], day): number for link, number in counting.items()})
    ledger.counted.update(counted)
    return counted


def _read_entry(ledger: ArchivedLedger, document: Document) -> None:
    receipts = receipts_of(document)
    place = document.get("place")
    if not receipts:
        return
    if type(place) is not int:
        ledger.books.waiting += receipts
    elif place in ledger.books.placed:
        raise ValueError(f"the place {place} is given twice")
    else:
        ledger.books.placed[place] = receipts


def _read_statement(ledger: ArchivedLedger, document: Document) -> None:
    ledger.books.statements.append(statements.from_document(document))


def _read_counts(ledger: ArchivedLedger, document: Document) -> None:
    subject, _, bucket = document["_id"].partition("/")
    parts = document.get("parts", {})
    if bucket == "total":
        ledger.totals[subject] = sum(parts.values())
    elif bucket.startswith("day/"):
        ledger.claimed[subject, date.fromisoformat(bucket.removeprefix("day/"))] += sum(parts.values())


def _read_delta(ledger: ArchivedLedger, document: Document) -> None:
    """Clicks that are counted, and not yet in the documents of their links."""
    if document.get("is_unreadable") or document.get("counted_before"):
        return
    columns = unpack(document["packed"])
    day = moment(columns.at[0] // DAY_MS * DAY_MS).date()
    for link, what in zip(columns.link, columns.what, strict=True):
        if columns.whats[what][1] is None:
            link_id = columns.links[link]
            ledger.claimed[link_id, day] += 1
            ledger.totals[link_id] = ledger.totals.get(link_id, 0) + 1


def _read_link(ledger: ArchivedLedger, document: Document) -> None:
    ledger.short_urls[LinkId(document["_id"])] = f"{document['domain']}/{document['path']}"


_READERS: Mapping[str, Callable[[ArchivedLedger, Document], None]] = {
    click_blocks.NAME: _read_block,
    entries.NAME: _read_entry,
    statements.NAME: _read_statement,
    click_counts.NAME: _read_counts,
    organization_counts.NAME: _read_counts,
    link_deltas.NAME: _read_delta,
    links.NAME: _read_link,
}


def wrong_claims(ledger: ArchivedLedger, gaps: set[date]) -> list[tuple[str, str]]:
    """The days and links whose counts are not those of the blocks: which one, and what was found.

    Days of which not all blocks are there (`gaps`) are left out, and links that are gone with their counts.
    """
    known = {*ledger.short_urls, ledger.org_id}
    wrong = []
    for subject, day in sorted({*ledger.folded, *ledger.claimed}):
        said, there = ledger.claimed[subject, day], ledger.folded[subject, day]
        if subject in known and day not in gaps and said != there:
            wrong.append((f"{subject} {day}", f"{said} clicks claimed, {there} in the blocks"))
    days: defaultdict[str, int] = defaultdict(int)
    for (subject, _), clicks in ledger.claimed.items():
        days[subject] += clicks
    for subject in sorted({*days, *ledger.totals} & known):
        if (total := ledger.totals.get(subject, 0)) != days[subject]:
            wrong.append((subject, f"{total} clicks claimed in total, {days[subject]} in its days"))
    return wrong

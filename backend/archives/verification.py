"""Checks an archive's ledger without any database (`waylink verify`, docs/verify.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from backend.archives.archive_file import Header, check_whole, read_entries, read_header
from backend.archives.ledger_reading import ArchivedLedger, read_ledger
from backend.domain.ids import LinkId
from backend.domain.ledger.books import CheckResult, SignedStatement, check_books
from backend.domain.ledger.discrepancies import DiscrepancyKind
from backend.domain.ledger.statements import Statement
from backend.storage.ledger.ed25519 import is_signed

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

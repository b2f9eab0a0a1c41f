"""Blocks of clicks: many clicks of one organization and one day in UTC, as compressed columns.

A block is made from clicks and read whole. Each column has one entry a click. What repeats, such as links and
browsers, is kept once in a table, and the column holds positions in it. So a click takes a few bytes, and
reading blocks costs far less than reading records.

The same clicks in the same order have the same columns. The SHA-256 of these says what a block's clicks are
(`Content`), however they are compressed, and in whichever larger block they are found again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, chain, islice, pairwise, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from backend.domain.clicks import packed_columns
from backend.domain.clicks.clicks import Click
from backend.domain.clicks.packed_columns import LONGEST_TEXT, UnreadableColumns, columns_in, text_in
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome

# About the most clicks of a block. A block that was merged from smaller ones never has more.
MOST_CLICKS = 10_000
DAY_MS = 24 * 3600 * 1000
_COLUMNS = b"\x01"  # the format, before the compressed columns
_LEVEL = 4  # of zlib: its usual 6 takes three times as long, a microsecond a click, for 3 % less
_LARGEST = 16_000_000  # bytes of a block when it is not compressed
_LATEST_MS = 253_402_300_799_999  # the year 9999

# Outcome, reason, platform, system, browser, kind of client.
What = tuple[str, str | None, str, str | None, str | None, str]


class UnreadableBlock(ValueError):
    """Bytes that were stored as a block of clicks can't be read as one."""


@dataclass(slots=True)
class Columns:
    """Clicks as columns, each of which has one entry for each click. `at` is in milliseconds since 1970.

    `link`, `what`, `country`, `referrer` and `variant` are positions in the table named after them. `visitor`
    has the visitors' hashes, None where there is none.
    """

    links: Sequence[LinkId]
    whats: Sequence[What]
    countries: Sequence[str | None]
    referrers: Sequence[str | None]
    variants: Sequence[str | None]
    at: Sequence[int]
    link: Sequence[int]
    what: Sequence[int]
    country: Sequence[int]
    referrer: Sequence[int]
    variant: Sequence[int]
    visitor: Sequence[int | None]

    def clicks(self, org_id: OrgId, first: int = 0, count: int | None = None) -> Iterator[Click]:
        """The clicks one by one, in the block's order, from number `first` on: `count` of them, or all."""
        rows = zip(
            self.at,
            self.link,
            self.what,
            self.country,
            self.referrer,
            self.variant,
            self.visitor,
            strict=True,
        )
        end = None if count is None else first + count
        for at, link, what, country, referrer, variant, visitor in islice(rows, first, end):
            outcome, reason, platform, system, browser, kind = self.whats[what]
            yield Click(
                org_id=org_id,
                link_id=self.links[link],
                at=moment(at),
                counted=reason is None,
                reason=reason,
                outcome=Outcome(outcome),
                platform=platform,
                system=system,
                browser=browser,
                client_kind=kind,
                country=self.countries[country],
                referrer_host=self.referrers[referrer],
                visitor=visitor,
                variant=self.variants[variant],
            )


class Content(NamedTuple):
    """The content of a block: how many clicks count, and the SHA-256 of the columns in hexadecimal digits."""

    counted: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block to be stored. All its clicks are of one day in UTC."""

    org_id: OrgId
    clicks: int
    first_at: datetime
    last_at: datetime
    packed: bytes
    content: Content


# A click while it is read: organization, link, milliseconds, what it was, country, referrer, visitor, and
# variant.
ClickRow = tuple[OrgId, LinkId, int, What, str | None, str | None, int | None, str | None]


def blocks_of(clicks: Iterable[Click]) -> list[Block]:
    """Blocks of these clicks: one for each organization and day."""
    return blocks_of_rows([row_of(click) for click in clicks])


def block_of(org_id: OrgId, clicks: Iterable[Click]) -> Block:
    """A block of these clicks, all of one organization and one day."""
    return _block(org_id, [row_of(click) for click in clicks])


def merged(org_id: OrgId, blocks: Iterable[Columns]) -> Block:
    """One block with the clicks of all these blocks, which are of one organization and one day."""
    rows = (_rows(org_id, columns) for columns in blocks)
    return _block(org_id, list(chain.from_iterable(rows)))


def contents(org_id: OrgId, columns: Columns, sizes: Iterable[int]) -> list[Content]:
    """The contents of several blocks whose clicks follow one another in these columns.

    `sizes` says how many clicks each of the blocks has.
    """
    rows = _rows(org_id, columns)
    blocks = (_columns_of(list(islice(rows, size))) for size in sizes)
    return [_content(block, _text_of(block)) for block in blocks]


def unpack(packed: bytes) -> Columns:
    """The columns of a block. Raises UnreadableBlock."""
    try:
        return columns_in(json_in(packed), _checked)
    except UnreadableColumns as error:
        raise UnreadableBlock(str(error)) from None


def json_in(packed: bytes) -> bytes:
    """The columns of a block as JSON that is not checked. Raises UnreadableBlock."""
    try:
        return text_in(packed, _COLUMNS, _LARGEST)
    except UnreadableColumns as error:
        raise UnreadableBlock(str(error)) from None


def moment(at: int) -> datetime:
    """The time that is `at` milliseconds after 1970."""
    return datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)


def are_short(texts: Iterable[str | None]) -> bool:
    """Whether a block can hold all of these texts."""
    return max(len(text or "") for text in texts) <= LONGEST_TEXT


def row_of(click: Click) -> ClickRow:
    """The click as a row. Raises ValueError for one that no block can hold."""
    at = round(click.at.timestamp() * 1000)
    what = (click.outcome.value, click.reason, click.platform, click.system, click.browser, click.client_kind)
    texts = (click.org_id, click.link_id, *what, click.country, click.referrer_host, click.variant)
    if not all(isinstance(text, str | None) for text in texts):
        raise ValueError("not a click record")
    if not 0 <= at <= _LATEST_MS or not are_short(texts):
        raise ValueError("not a click record")
    facts = (click.country, click.referrer_host, click.visitor, click.variant)
    return click.org_id, click.link_id, at, what, *facts


def _rows(org_id: OrgId, columns: Columns) -> Iterator[ClickRow]:
    return zip(
        repeat(org_id, len(columns.at)),
        map(columns.links.__getitem__, columns.link),
        columns.at,
        map(columns.whats.__getitem__, columns.what),
        map(columns.countries.__getitem__, columns.country),
        map(columns.referrers.__getitem__, columns.referrer),
        columns.visitor,
        map(columns.variants.__getitem__, columns.variant),
        strict=True,
    )


def _by_day(rows: Sequence[ClickRow]) -> dict[tuple[OrgId, int], list[ClickRow]]:
    """The rows of each organization and day."""
    if not rows:
        return {}
    days = [at // DAY_MS for at in map(itemgetter(2), rows)]
    if len({row[0] for row in rows}) == 1 and min(days) == max(days):
        return {(rows[0][0], days[0]): list(rows)}
    by_day: dict[tuple[OrgId, int], list[ClickRow]] = {}
    for day, row in zip(days, rows, strict=True):
        by_day.setdefault((row[0], day), []).append(row)
    return by_day


def blocks_of_rows(rows: Sequence[ClickRow]) -> list[Block]:
    """Blocks of these clicks: one for each organization and day."""
    return [_block(org_id, day_rows) for (org_id, _), day_rows in sorted(_by_day(rows).items())]


def _block(org_id: OrgId, rows: Sequence[ClickRow]) -> Block:
    columns = _columns_of(rows)
    text, at = _text_of(columns), columns.at
    content = _content(columns, text)
    return Block(org_id, len(rows), moment(min(at)), moment(max(at)), _packed(text), content)


def _columns_of(rows: Sequence[ClickRow]) -> Columns:
    _, links, at, whats, countries, referrers, visitors, variants = zip(*rows, strict=True)
    (link_table, link), (what_table, what) = packed_columns.table(links), packed_columns.table(whats)
    tables = [packed_columns.table(values) for values in (countries, referrers, variants)]
    (country_table, country), (referrer_table, referrer), (variant_table, variant) = tables
    return Columns(
        links=link_table,
        whats=what_table,
        countries=country_table,
        referrers=referrer_table,
        variants=variant_table,
        at=at,
        link=link,
        what=what,
        country=country,
        referrer=referrer,
        variant=variant,
        visitor=visitors,
    )


def _content(columns: Columns, text: bytes) -> Content:
    counts = [reason is None for _, reason, *_ in columns.whats]
    return Content(sum(map(counts.__getitem__, columns.what)), hashlib.sha256(text).hexdigest())


def pack(columns: Columns) -> bytes:
    """The bytes of a block with these clicks, which are of one day: what `unpack` reads."""
    return _packed(_text_of(columns))


def _packed(text: bytes) -> bytes:
    return packed_columns.packed(_COLUMNS, text, _LEVEL)


def _text_of(columns: Columns) -> bytes:
    at = columns.at
    written: dict[str, object] = {
        "at": [at[0], *(after - before for before, after in pairwise(at))],
        "link_table": columns.links,
        "link": columns.link,
        "what_table": columns.whats,
        "what": columns.what,
        "country_table": columns.countries,
        "country": columns.country,
        "referrer_table": columns.referrers,
        "referrer": columns.referrer,
    }
    if set(columns.visitor) != {None}:
        written["visitor"] = columns.visitor
    if columns.variants != [None]:
        written["variant_table"], written["variant"] = columns.variants, columns.variant
    return packed_columns.text_of(written)


def _checked(columns: dict[str, Any]) -> Columns:
    """The columns, if the service could have written every entry.

    Raises UnreadableColumns, ValueError, TypeError, KeyError.
    """
    at = list(accumulate(packed_columns.integers(columns["at"])))
    if not at or min(at) < 0 or max(at) > _LATEST_MS or min(at) // DAY_MS != max(at) // DAY_MS:
        raise UnreadableColumns("its times are not of one day")
    whats = [_what(what) for what in columns["what_table"]]
    tables = [columns[f"{name}_table"] for name in ("link", "country", "referrer")]
    links, countries, referrers = ([packed_columns.text(value) for value in table] for table in tables)
    if None in links:
        raise UnreadableColumns("a link has no id")
    # Most blocks have no variants.
    variants = [packed_columns.text(value) for value in columns.get("variant_table", [None])]
    return Columns(
        links=[LinkId(str(link_id)) for link_id in links],
        whats=whats,
        countries=countries,
        referrers=referrers,
        variants=variants,
        at=at,
        link=packed_columns.positions(columns["link"], links, len(at)),
        what=packed_columns.positions(columns["what"], whats, len(at)),
        country=packed_columns.positions(columns["country"], countries, len(at)),
        referrer=packed_columns.positions(columns["referrer"], referrers, len(at)),
        variant=packed_columns.positions(columns.get("variant", [0] * len(at)), variants, len(at)),
        visitor=_visitors(columns.get("visitor"), len(at)),
    )


def _visitors(column: Any, length: int) -> list[int | None]:
    if column is None:
        return [None] * length
    if not isinstance(column, list) or len(column) != length or set(map(type, column)) - {int, type(None)}:
        raise UnreadableColumns("a column is not of visitors' hashes")
    hashes = {hashed for hashed in column if hashed is not None}
    if hashes and not 0 <= min(hashes) <= max(hashes) <= HIGHEST_HASH:
        raise UnreadableColumns("a column is not of visitors' hashes")
    return column


def _what(value: Any) -> What:
    outcome, reason, *others = value
    platform, system, browser, kind = map(packed_columns.text, others)
    if platform is None or kind is None:
        raise UnreadableColumns("a click has no platform or kind")
    return Outcome(outcome).value, packed_columns.text(reason), platform, system, browser, kind

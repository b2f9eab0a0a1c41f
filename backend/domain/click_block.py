"""Blocks of clicks: many clicks of one organization and one day in UTC, as compressed columns.

A block is made from lines of a click log and read whole. Each column has one entry a click. What repeats,
such as links and browsers, is kept once in a table, and the column holds positions in it; so a click takes a
few bytes, and counting blocks costs far less than reading lines.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import Any, TypeVar

from backend.domain.clicks import Click, parse_record
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.domain.visitors import HIGHEST_HASH

# A block has at most about as many clicks; one that is merged from smaller ones never has more.
MOST_CLICKS = 10_000
DAY_MS = 24 * 3600 * 1000
_COLUMNS = b"\x01"  # the format, before the compressed columns
_LEVEL = 4  # of zlib: its usual 6 takes three times as long, a microsecond a click, for 3 % less
_LARGEST = 16_000_000  # bytes of a block when it is not compressed
_LATEST_MS = 253_402_300_799_999  # the year 9999
_LONGEST_TEXT = 512
# Reading lines holds the interpreter, so it is done in parts of this many characters: about a millisecond
# each.
_PART = 64_000

ValueT = TypeVar("ValueT", bound=Hashable)
# Outcome, reason, platform, system, browser, kind of client.
What = tuple[str, str | None, str, str, str, str]


class UnreadableBlock(ValueError):
    """The bytes are not a block's."""


@dataclass(slots=True)
class Columns:
    """Clicks, one entry in each column for each. `at` is in milliseconds since 1970.

    `link`, `what`, `country` and `referrer` are positions in the table named after them. `visitor` has the
    visitors' hashes, None where there is none.
    """

    links: list[LinkId]
    whats: list[What]
    countries: list[str | None]
    referrers: list[str | None]
    at: list[int]
    link: list[int]
    what: list[int]
    country: list[int]
    referrer: list[int]
    visitor: list[int | None]

    def clicks(self, org_id: OrgId) -> Iterator[Click]:
        """The clicks one by one, in the block's order."""
        rows = zip(self.at, self.link, self.what, self.country, self.referrer, self.visitor, strict=True)
        for at, link, what, country, referrer, visitor in rows:
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
            )


@dataclass(frozen=True, slots=True)
class Block:
    """A block to be stored. All its clicks are of one day in UTC."""

    org_id: OrgId
    clicks: int
    first_at: datetime
    last_at: datetime
    packed: bytes


@dataclass(slots=True)
class Stretch:
    """What is in a stretch of a click log. `unreadable` has the position of each line that can't be read."""

    blocks: list[Block] = field(default_factory=list)
    handoffs: list[Click] = field(default_factory=list)
    unreadable: list[tuple[int, bytes]] = field(default_factory=list)


def read_stretch(stretch: bytes) -> Stretch:
    """The clicks in lines of a click log, as blocks: one for each organization and day."""
    found = Stretch()
    rows: list[_Row] = []
    for position, part in _parts(stretch):
        rows += _read_fast(part, found) or _read_slowly(part, position, found)
    found.blocks = _blocks(rows)
    return found


def blocks_of(clicks: Iterable[Click]) -> list[Block]:
    """Blocks of these clicks: one for each organization and day."""
    return _blocks([_row(each) for each in clicks])


def block_of(org_id: OrgId, clicks: Iterable[Click]) -> Block:
    """A block of these clicks, all of one organization and one day."""
    return _block(org_id, [_row(each) for each in clicks])


def check_fits(click: Click) -> None:
    """Raise ValueError for a click that no block can hold, such as one that an earlier version stored."""
    _row(click)


def merged(org_id: OrgId, parts: Iterable[Columns]) -> Block:
    """One block with the clicks of all these, which are of one organization and one day."""
    return _block(org_id, list(chain.from_iterable(map(_rows, parts))))


def unpack(packed: bytes) -> Columns:
    """The columns of a block. Raises UnreadableBlock."""
    if packed[:1] != _COLUMNS:
        raise UnreadableBlock("unknown format")
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(packed[1:], _LARGEST)
        if unpacking.unconsumed_tail or not unpacking.eof or unpacking.unused_data:
            raise UnreadableBlock("too large, or cut off")
        return _checked(json.loads(text))
    except UnreadableBlock:
        raise
    except (zlib.error, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise UnreadableBlock(type(error).__name__) from None


def moment(at: int) -> datetime:
    """The time so many milliseconds after 1970."""
    return datetime.fromtimestamp(at // 1000, UTC).replace(microsecond=at % 1000 * 1000)


# A click while it is read: organization, link, milliseconds, what it was, country, referrer, visitor.
_Row = tuple[str, str, int, What, str | None, str | None, int | None]
_TEXT = r'"[^"\\\x00-\x1f\x7f]*"'
_TEXT_OR_NULL = rf"(?:null|{_TEXT})"
# What nearly every line looks like; others are read by `parse_record`.
_LINE = re.compile(
    rf"^\[({_TEXT}),({_TEXT}),((?:0|[1-9]\d{{0,10}})\.\d{{3}}),({_TEXT},{_TEXT_OR_NULL},{_TEXT},{_TEXT},{_TEXT},{_TEXT}),"
    rf"({_TEXT_OR_NULL}),({_TEXT_OR_NULL})(|,null|,0|,[1-9]\d{{0,9}})(|,\[.*\])\]$",
    re.MULTILINE | re.ASCII,
)


def _parts(stretch: bytes) -> Iterator[tuple[int, bytes]]:
    """The stretch in parts of whole lines, each with its position."""
    position = 0
    while position < len(stretch):
        end = stretch.rfind(b"\n", position, position + _PART) + 1
        end = end or stretch.find(b"\n", position) + 1 or len(stretch)
        yield position, stretch[position:end]
        position = end


def _read_fast(part: bytes, found: Stretch) -> list[_Row] | None:
    """The rows of lines that all look as usual; None if one does not."""
    if not part.isascii() or not part.endswith(b"\n"):
        return None
    text = part.decode("ascii")
    lines = _LINE.findall(text)
    if len(lines) != text.count("\n"):
        return None
    orgs, links, times, what, countries, referrers, visitors, rests = zip(*lines, strict=True)
    known = {each: tuple(json.loads(f"[{each}]")) for each in set(what)}
    outcomes = {each[0] for each in known.values()}
    values = {each: json.loads(each) for each in {*orgs, *links, *countries, *referrers}}
    if (
        not outcomes <= _OUTCOMES
        or not _are_short(values.values())
        or not all(map(_are_short, known.values()))
    ):
        return None
    hashes = [int(each[1:]) if each not in _NO_VISITOR else None for each in visitors]
    if max((each or 0 for each in hashes), default=0) > HIGHEST_HASH:
        return None
    if any(rests):
        try:
            handoffs = [
                parse_record(each) for each, rest in zip(part.split(b"\n"), rests, strict=False) if rest
            ]
        except ValueError:
            return None
        found.handoffs += [each for each in handoffs if each.handoff]
    read = values.__getitem__
    return list(
        zip(
            map(read, orgs),
            map(read, links),
            map(int, " ".join(times).replace(".", "").split(" ")),
            map(known.__getitem__, what),
            map(read, countries),
            map(read, referrers),
            hashes,
            strict=True,
        )
    )


_NO_VISITOR = {"", ",null"}
_OUTCOMES = {each.value for each in Outcome}


def _are_short(texts: Iterable[str | None]) -> bool:
    return max(len(each or "") for each in texts) <= _LONGEST_TEXT


def _read_slowly(part: bytes, position: int, found: Stretch) -> list[_Row]:
    rows = []
    for line in part.splitlines(keepends=True):
        try:
            click = parse_record(line)
            rows.append(_row(click))
        except ValueError:
            found.unreadable.append((position, line))
        else:
            if click.handoff:
                found.handoffs.append(click)
        position += len(line)
    return rows


def _row(click: Click) -> _Row:
    """Raises ValueError for a click that no block can hold."""
    at = round(click.at.timestamp() * 1000)
    what = (click.outcome.value, click.reason, click.platform, click.system, click.browser, click.client_kind)
    texts = (click.org_id, click.link_id, *what, click.country, click.referrer_host)
    if not all(isinstance(each, str | None) for each in texts):
        raise ValueError("not a click record")
    if not 0 <= at <= _LATEST_MS or not _are_short(texts):
        raise ValueError("not a click record")
    return click.org_id, click.link_id, at, what, click.country, click.referrer_host, click.visitor


def _rows(columns: Columns) -> Iterator[_Row]:
    return zip(
        _repeat("", columns.at),
        map(columns.links.__getitem__, columns.link),
        columns.at,
        map(columns.whats.__getitem__, columns.what),
        map(columns.countries.__getitem__, columns.country),
        map(columns.referrers.__getitem__, columns.referrer),
        columns.visitor,
        strict=True,
    )


def _repeat(value: str, column: Sequence[object]) -> list[str]:
    return [value] * len(column)


def _by_day(rows: Sequence[_Row]) -> dict[tuple[str, int], list[_Row]]:
    """The rows of each organization and day."""
    if not rows:
        return {}
    days = [at // DAY_MS for at in map(itemgetter(2), rows)]
    if len({row[0] for row in rows}) == 1 and min(days) == max(days):
        return {(rows[0][0], days[0]): list(rows)}
    found: dict[tuple[str, int], list[_Row]] = {}
    for day, row in zip(days, rows, strict=True):
        found.setdefault((row[0], day), []).append(row)
    return found


def _blocks(rows: Sequence[_Row]) -> list[Block]:
    return [_block(org_id, each) for (org_id, _), each in sorted(_by_day(rows).items())]


def _block(org_id: str, rows: Sequence[_Row]) -> Block:
    _, links, at, whats, countries, referrers, visitors = zip(*rows, strict=True)
    columns: dict[str, object] = {"at": [at[0], *(after - before for before, after in pairwise(at))]}
    for name, values in (("link", links), ("what", whats), ("country", countries), ("referrer", referrers)):
        columns[f"{name}_table"], columns[name] = _table(values)
    if set(visitors) != {None}:
        columns["visitor"] = visitors
    text = json.dumps(columns, separators=(",", ":")).encode("ascii")
    packed = _COLUMNS + zlib.compress(text, _LEVEL)
    return Block(OrgId(org_id), len(rows), moment(min(at)), moment(max(at)), packed)


def _table(values: Sequence[ValueT]) -> tuple[list[ValueT], list[int]]:
    """The different values, and for each of the values its position among them."""
    table = list(dict.fromkeys(values))
    places = {value: place for place, value in enumerate(table)}
    return table, list(map(places.__getitem__, values))


def _checked(columns: dict[str, Any]) -> Columns:
    """The columns, if every entry of theirs is what the service writes.

    Raises ValueError, TypeError, KeyError.
    """
    at = list(accumulate(_integers(columns["at"])))
    if not at or min(at) < 0 or max(at) > _LATEST_MS or min(at) // DAY_MS != max(at) // DAY_MS:
        raise UnreadableBlock("its times are not of one day")
    whats = [_what(each) for each in columns["what_table"]]
    tables = [columns[f"{name}_table"] for name in ("link", "country", "referrer")]
    links, countries, referrers = ([_text(each) for each in table] for table in tables)
    if None in links:
        raise UnreadableBlock("a link has no id")
    return Columns(
        links=[LinkId(str(each)) for each in links],
        whats=whats,
        countries=countries,
        referrers=referrers,
        at=at,
        link=_places(columns["link"], links, len(at)),
        what=_places(columns["what"], whats, len(at)),
        country=_places(columns["country"], countries, len(at)),
        referrer=_places(columns["referrer"], referrers, len(at)),
        visitor=_visitors(columns.get("visitor"), len(at)),
    )


def _integers(column: Any) -> list[int]:
    if not isinstance(column, list) or set(map(type, column)) - {int}:
        raise UnreadableBlock("a column is not of whole numbers")
    return column


def _places(column: Any, table: Sequence[object], length: int) -> list[int]:
    places = _integers(column)
    if len(places) != length or min(places) < 0 or max(places) >= len(table):
        raise UnreadableBlock("a column does not fit its table")
    return places


def _visitors(column: Any, length: int) -> list[int | None]:
    if column is None:
        return [None] * length
    if not isinstance(column, list) or len(column) != length or set(map(type, column)) - {int, type(None)}:
        raise UnreadableBlock("a column is not of visitors' hashes")
    known = {each for each in column if each is not None}
    if known and not 0 <= min(known) <= max(known) <= HIGHEST_HASH:
        raise UnreadableBlock("a column is not of visitors' hashes")
    return column


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise UnreadableBlock("a table holds something else than text")
    value.encode()  # half a character can't be stored
    return value


def _what(value: Any) -> What:
    outcome, reason, *others = value
    platform, system, browser, kind = (str(_text(each) or "") for each in others)
    return Outcome(outcome).value, _text(reason), platform, system, browser, kind

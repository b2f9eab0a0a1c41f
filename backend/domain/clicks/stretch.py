"""Stretches of click logs: their records, read as blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from backend.domain.clicks.block import Block, ClickRow, are_short, blocks_of_rows, row_of
from backend.domain.clicks.clicks import Click, parse_record, variant_in
from backend.domain.clicks.visitor_hashes import HIGHEST_HASH
from backend.domain.links.destinations.destination import Outcome

# Reading records holds the interpreter, so it is done in chunks of this many bytes: about a millisecond each.
_CHUNK_BYTES = 64_000


@dataclass(slots=True)
class Stretch:
    """The contents of a stretch. `unreadable` has the position of each record that can't be read."""

    blocks: list[Block] = field(default_factory=list)
    handoffs: list[Click] = field(default_factory=list)
    unreadable: list[tuple[int, bytes]] = field(default_factory=list)


def read_stretch(lines: bytes) -> Stretch:
    """The clicks of these records of a click log as blocks: one for each organization and day."""
    contents = Stretch()
    rows: list[ClickRow] = []
    for position, chunk in _chunks(lines):
        rows += _read_fast(chunk, contents) or _read_slowly(chunk, position, contents)
    contents.blocks = blocks_of_rows(rows)
    return contents


_TEXT = r'"[^"\\\x00-\x1f\x7f]*"'
_TEXT_OR_NULL = rf"(?:null|{_TEXT})"
# What nearly every line looks like; others are read by `parse_record`.
_LINE = re.compile(
    rf"^\[({_TEXT}),({_TEXT}),((?:0|[1-9]\d{{0,10}})\.\d{{3}}),({_TEXT},{_TEXT_OR_NULL},{_TEXT},{_TEXT},{_TEXT},{_TEXT}),"
    rf"({_TEXT_OR_NULL}),({_TEXT_OR_NULL})(,null|,0|,[1-9]\d{{0,9}})(|,\{{.*?\}})(|,\[.*\])\]$",
    re.MULTILINE | re.ASCII,
)


def _chunks(stretch: bytes) -> Iterator[tuple[int, bytes]]:
    """The stretch in chunks of whole lines, each with its position."""
    position = 0
    while position < len(stretch):
        end = stretch.rfind(b"\n", position, position + _CHUNK_BYTES) + 1
        end = end or stretch.find(b"\n", position) + 1 or len(stretch)
        yield position, stretch[position:end]
        position = end


def _read_fast(chunk: bytes, contents: Stretch) -> list[ClickRow] | None:
    """The rows of lines that all look as usual; None if one does not."""
    if not chunk.isascii() or not chunk.endswith(b"\n"):
        return None
    text = chunk.decode("ascii")
    lines = _LINE.findall(text)
    if len(lines) != text.count("\n"):
        return None
    orgs, links, times, what, countries, referrers, visitors, more, rests = zip(*lines, strict=True)
    whats = {fragment: tuple(json.loads(f"[{fragment}]")) for fragment in set(what)}
    outcomes = {outcome for outcome, *_ in whats.values()}
    values = {literal: json.loads(literal) for literal in {*orgs, *links, *countries, *referrers}}
    variants = _variants(set(more))
    if (
        variants is None
        or not outcomes <= _OUTCOMES
        or not are_short(values.values())
        or not all(map(are_short, whats.values()))
    ):
        return None
    hashes = [None if visitor == _NO_VISITOR else int(visitor[1:]) for visitor in visitors]
    if max((hashed or 0 for hashed in hashes), default=0) > HIGHEST_HASH:
        return None
    handoffs = _handoffs(chunk, rests) if any(rests) else []
    if handoffs is None:
        return None
    contents.handoffs += handoffs
    read = values.__getitem__
    return list(
        zip(
            map(read, orgs),
            map(read, links),
            map(int, " ".join(times).replace(".", "").split(" ")),
            map(whats.__getitem__, what),
            map(read, countries),
            map(read, referrers),
            hashes,
            map(variants.__getitem__, more),
            strict=True,
        )
    )


def _handoffs(chunk: bytes, rests: Iterable[str]) -> list[Click] | None:
    """The clicks that led to an app, which only lines with a rest can say; None if one can't be read."""
    try:
        clicks = [parse_record(line) for line, rest in zip(chunk.split(b"\n"), rests, strict=False) if rest]
    except ValueError:
        return None
    return [click for click in clicks if click.handoff]


def _variants(more: Collection[str]) -> dict[str, str | None] | None:
    """The variant in each text of what only some clicks have; None if one can't be read."""
    try:
        variants = {text: variant_in(json.loads(text[1:])) if text else None for text in more}
    except ValueError:
        return None
    return variants if are_short(variants.values()) else None


_NO_VISITOR = ",null"
_OUTCOMES = {outcome.value for outcome in Outcome}


def _read_slowly(chunk: bytes, position: int, contents: Stretch) -> list[ClickRow]:
    rows = []
    for line in chunk.splitlines(keepends=True):
        try:
            click = parse_record(line)
            rows.append(row_of(click))
        except ValueError:
            contents.unreadable.append((position, line))
        else:
            if click.handoff:
                contents.handoffs.append(click)
        position += len(line)
    return rows

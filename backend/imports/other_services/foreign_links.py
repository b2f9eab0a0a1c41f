"""Links as another service writes them: rows of its CSV, or objects of its API's JSON answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from backend.domain.errors import OperatorError
from backend.imports.csv_file import Line, read_lines, read_text

_DEEPEST_LEVEL = 4


class UnreadableLinks(OperatorError):
    """The whole file can't be imported. The message says why."""


@dataclass(frozen=True, slots=True)
class ForeignLink:
    """A link of another service: its fields that have a value, as text, by `key` of their names.

    `number` is the line of a CSV file, or the place among the links of a JSON file. `names` are the fields'
    names as they stand in the file. `lists` are the elements of those that are lists in it.
    """

    number: int
    fields: dict[str, str]
    names: dict[str, str]
    lists: dict[str, list[str]]


@lru_cache(maxsize=4096)
def key(name: str) -> str:
    """One form for the spellings of a name: `Short link`, `short_link` and `shortLink` are the same."""
    return "".join(character for character in name.lower() if character.isalnum() or character == ".")


def read_foreign_links(path: Path, list_at: Sequence[str]) -> list[ForeignLink]:
    """The links of a file: CSV with a line of names, or JSON.

    JSON is one answer of the service's API or several one after the other, each with a list of links at
    `list_at`; a list of links; or links one after the other. Raises UnreadableCsv and UnreadableLinks.
    """
    links = list(_from_json(path, list_at) if _is_json(path) else _from_csv(path))
    if not links:
        raise UnreadableLinks(f"{path} has no links in it.")
    return links


def _is_json(path: Path) -> bool:
    return read_text(path).lstrip()[:1] in {"{", "["}


def _from_csv(path: Path) -> Iterator[ForeignLink]:
    head, *lines = read_lines(path) or [Line(0, [])]
    for line in lines:
        if any(cell.strip() for cell in line.cells[len(head.cells) :]):
            raise UnreadableLinks(
                f"Line {line.number} has {len(line.cells)} columns; the first line names {len(head.cells)}."
            )
        yield _foreign_link(line.number, zip(head.cells, line.cells, strict=False))


def _from_json(path: Path, list_at: Sequence[str]) -> Iterator[ForeignLink]:
    number = 0
    for document in _documents(path):
        for link in _links(document, list_at):
            if not isinstance(link, dict):
                raise UnreadableLinks(f"{path} has something in its list that is no link.")
            number += 1
            yield _foreign_link(number, _flat(link))


def _documents(path: Path) -> Iterator[object]:
    try:
        text = read_text(path).strip()
        decoder, position = json.JSONDecoder(), 0
        while position < len(text):
            document, position = decoder.raw_decode(text, position)
            yield document
            while position < len(text) and text[position].isspace():
                position += 1
    except (ValueError, RecursionError) as error:
        raise UnreadableLinks(f"{path} is not JSON: {error}.") from None


def _links(document: object, list_at: Sequence[str]) -> Iterable[object]:
    if isinstance(document, list):
        # The answers of several pages in one list, or the links themselves.
        return [link for part in document for link in _links(part, list_at)]
    if not list_at:
        return [document]
    value = document
    for name in list_at:
        if not isinstance(value, dict) or name not in value:
            return [document]
        value = value[name]
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _flat(link: dict[str, object], before: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """The fields of a link; `meta.validUntil` is the field of an object in it."""
    for name, value in link.items():
        if isinstance(value, dict) and value and depth < _DEEPEST_LEVEL:
            yield from _flat(value, f"{before}{name}.", depth + 1)
        else:
            yield before + name, value


def _text(value: object) -> str:
    if value is None or value in ([], {}):
        return ""
    if isinstance(value, list):
        return ", ".join(map(_name, value))
    return whole_characters(value) if isinstance(value, str) else json.dumps(value)


def whole_characters(text: str) -> str:
    """The text with a mark in place of half characters.

    Services cut names in the middle of an emoji. JSON can hold such a half; files and databases take none.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _name(value: object) -> str:
    """An element of a list: what a tag is called, or the text itself."""
    return _text(value["name"] if isinstance(value, dict) and "name" in value else value)


def _foreign_link(number: int, fields: Iterable[tuple[str, object]]) -> ForeignLink:
    link = ForeignLink(number, {}, {}, {})
    for name, value in fields:
        text = _text(value).strip()
        if key(name) and text and key(name) not in link.fields:
            link.fields[key(name)] = text
            link.names[key(name)] = whole_characters(name)
            if isinstance(value, list):
                link.lists[key(name)] = list(map(_name, value))
    return link

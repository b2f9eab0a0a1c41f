"""A row of an imported file in the columns of `waylink import csv`, whatever the file's own format."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from backend.domain.errors import InvalidField, shown_name
from backend.domain.fields.rules import Rule
from backend.domain.fields.times.written_times import written_moment
from backend.domain.links.input import (
    CREATE_FIELDS,
    CREATE_OPTIONAL,
    CREATE_REQUIRED,
    IMPORTED_FROM,
    LINK_RULES,
    MOST_IMPORTED_CLICKS,
    NewLink,
    parse_new_link,
)
from backend.domain.links.limits import LIMIT_FIELDS, LIMIT_TIMES
from backend.domain.links.links import ImportedClicks, Link
from backend.domain.links.tags import TagNames

# What was counted elsewhere. It grows from one export to the next, so it does not tell rows apart.
_COUNT_COLUMNS = ("imported_clicks", "imported_from")
# What a link of another service has besides the fields of create-link.
HAS_PASSWORD = "has_password"  # noqa: S105 - a column
# Other services hide an archived link from their lists, where it goes on working. So does it here.
IS_ARCHIVED = "is_archived"
ARCHIVED_TAG = "archived"
STATE_COLUMNS = ("is_enabled", "is_disabled", IS_ARCHIVED, HAS_PASSWORD, "created_time", *_COUNT_COLUMNS)
TAGS = "tags"
RULES = "rules"
COLUMNS = (*CREATE_REQUIRED, *CREATE_OPTIONAL, *LIMIT_FIELDS, TAGS, RULES, *STATE_COLUMNS)
_FIELDS: Mapping[str, Rule[Any]] = {**CREATE_FIELDS, **LIMIT_FIELDS, TAGS: TagNames(), RULES: LINK_RULES}
# A row with other tags, rules or limits than at an earlier import is the same row: it makes no second link.
_NOT_IDENTITY = (*_COUNT_COLUMNS, TAGS, RULES, *LIMIT_FIELDS, HAS_PASSWORD, IS_ARCHIVED)
_JSON = {"custom_data": "object", RULES: "list"}
_NUMBERS = ("ios_behavior", "android_behavior", "max_clicks")
# Also as spreadsheets in other languages write them.
_FLAGS = {
    **dict.fromkeys(
        (
            *("true", "yes", "1", "wahr", "ja", "vrai", "oui", "verdadero", "sí", "vero", "sì", "waar"),
            *("verdadeiro", "sim", "prawda", "tak", "sand", "sann", "sant", "tosi", "pravda", "igaz"),
            *("adevărat", "doğru", "истина", "да"),
        ),
        True,
    ),
    **dict.fromkeys(
        (
            *("false", "no", "0", "falsch", "nein", "faux", "non", "falso", "onwaar", "nee", "não"),
            *("fałsz", "nie", "falsk", "usann", "falskt", "epätosi", "nepravda", "hamis", "fals", "yanlış"),
            *("yanliş", "ложь", "нет"),  # Python makes this i of the I in YANLIŞ
        ),
        False,
    ),
}
# What spreadsheets make of a long number, what they show in the place of a value, and a whole number in them.
_SHORTENED = re.compile(r"[0-9](?:[.,][0-9]+)?E\+[0-9]+", re.IGNORECASE)
_ERROR = re.compile(r"#(?:REF|N/A|NAME|VALUE|DIV/0|NULL|NUM|NV|BEZUG|WERT|SPILL|CALC)[!?]?", re.IGNORECASE)
# Not with three zeros: 1,000 is one in some countries, and a thousand in others.
_WHOLE = re.compile(r"([0-9]+)(?:[.,]0{1,2})?", re.ASCII)
# The roots of domains, in files of services that have them among the links.
_ROOTS = frozenset({"/", "_root"})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A value of the other service's link that a Waylink link can't hold, and why."""

    column: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """The link in a row: its fields, and its state in the other service."""

    new: NewLink
    is_enabled: bool = True
    created_at: datetime | None = None
    clicks: int | None = None
    clicks_from: str = ""

    def with_state(self, link: Link) -> Link:
        """The link as it was in the other service: enabled or not, with its time of creation and its clicks.

        The clicks are those until the import, which is when `link` was made.
        """
        clicks = (
            None if self.clicks is None else ImportedClicks(self.clicks, self.clicks_from, link.created_at)
        )
        return replace(
            link,
            is_enabled=self.is_enabled,
            created_at=self.created_at or link.created_at,
            imported_clicks=clicks,
        )


@dataclass(frozen=True, slots=True)
class ImportRow:
    """A row of a file: the line it ends on, its cells by column, and how many equal rows came before it."""

    line: int
    cells: dict[str, str]
    earlier: int
    left_out: tuple[LeftOut, ...] = ()

    @property
    def is_archived(self) -> bool:
        """Whether the other service hid the link from its lists."""
        return _FLAGS.get(self.cells.get(IS_ARCHIVED, "").strip().lower(), False)

    @property
    def text(self) -> str:
        """The row as text, in which the order of columns does not matter.

        Rows with the same text are the same link.
        """
        return json.dumps([_identity(self.cells), self.earlier], sort_keys=True)

    def parse(self) -> ImportedLink:
        """The link in this row. Raises RequestError, as the body of create-link does."""
        _refuse_root(self.cells)
        body: dict[str, Any] = {
            name: _value(name, cell) for name, cell in self.cells.items() if name not in STATE_COLUMNS
        }
        if parse_flag(IS_ARCHIVED, self.cells.get(IS_ARCHIVED, "false")):
            body[TAGS] = [*body.get(TAGS, []), ARCHIVED_TAG]
        clicks = _clicks(self.cells)
        new = parse_new_link(body, _FIELDS)
        clicks_left = _clicks_left(new, clicks)
        limit = {} if clicks_left is None else {"max_clicks": max(1, clicks_left)}
        return ImportedLink(
            replace(new, fields=new.fields | limit),
            _is_enabled(self.cells) and clicks_left != 0 and not _lacks_password(self.cells),
            _created_at(self.cells),
            clicks,
            IMPORTED_FROM.parse("imported_from", self.cells.get("imported_from", "another service")),
        )


def _clicks_left(new: NewLink, clicks: int | None) -> int | None:
    """How many clicks of the link's limit are left after those in the other service; None without a limit."""
    most = new.fields.get("max_clicks")
    return None if most is None else max(0, most - (clicks or 0))


def _lacks_password(cells: Mapping[str, str]) -> bool:
    """Whether the link asked for a password that the file does not have: nobody may get past it unasked."""
    return parse_flag(HAS_PASSWORD, cells.get(HAS_PASSWORD, "false")) and "password" not in cells


class Repeats:
    """Counts equal rows: each of them is a link of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def earlier(self, cells: Mapping[str, str]) -> int:
        """How many rows with these cells were counted before. Counts this one too."""
        text = json.dumps(_identity(cells), sort_keys=True)
        self._seen[text] = self._seen.get(text, -1) + 1
        return self._seen[text]


def parse_flag(column: str, text: str) -> bool:
    """The boolean in the text, as spreadsheets or programs write it.

    Raises InvalidField that names `column`.
    """
    try:
        return _FLAGS[text.strip().lower()]
    except KeyError:
        raise InvalidField(column, "must be true or false") from None


def _identity(cells: Mapping[str, str]) -> dict[str, str]:
    """What tells this row from others: no counts and tags; a state in one form, whichever column has it."""
    identity = {name: cell for name, cell in cells.items() if name not in _NOT_IDENTITY}
    is_disabled = _FLAGS.get(identity.get("is_disabled", "").strip().lower())
    if is_disabled is not None and "is_enabled" not in identity:
        del identity["is_disabled"]
        identity["is_enabled"] = "false" if is_disabled else "true"
    return identity


def _is_enabled(cells: Mapping[str, str]) -> bool:
    if "is_disabled" not in cells:
        return parse_flag("is_enabled", cells.get("is_enabled", "true"))
    if "is_enabled" in cells:
        raise InvalidField("is_disabled", "must not be given together with is_enabled")
    return not parse_flag("is_disabled", cells["is_disabled"])


def _created_at(cells: Mapping[str, str]) -> datetime | None:
    if "created_time" not in cells:
        return None
    moment = written_moment(cells["created_time"])
    if moment is None:
        raise InvalidField("created_time", "must be a date-time such as 2024-05-31T12:00:00Z")
    return moment.astimezone(UTC).replace(microsecond=0)


def _clicks(cells: Mapping[str, str]) -> int | None:
    if "imported_clicks" not in cells:
        return None
    text = cells["imported_clicks"].strip()
    if not text.isascii() or not text.isdecimal() or int(text[:20]) > MOST_IMPORTED_CLICKS:
        raise InvalidField("imported_clicks", f"must be a whole number from 0 to {MOST_IMPORTED_CLICKS}")
    return int(text)


def _refuse_root(cells: Mapping[str, str]) -> None:
    """Raise InvalidField for what another service calls a link, and is where a domain's root leads."""
    if cells.get("selected_path") in _ROOTS:
        where = cells.get("destination_url", "the address")
        rule = f"must not be empty or _root: set the root_url of the domain to {where} instead"
        raise InvalidField("selected_path", rule)


def _refuse_mangled(name: str, cell: str) -> None:
    """Raise InvalidField for what a spreadsheet has made of a value, which it has lost."""
    shown = "the number that is there" if name == "password" else cell
    if _SHORTENED.fullmatch(cell):
        raise InvalidField(
            name, f"must not be {shown}: a spreadsheet has shortened a number; format its cell as text"
        )
    if _ERROR.fullmatch(cell):
        raise InvalidField(name, f"must not be {cell}, which is an error of the spreadsheet")


def _time(name: str, cell: str) -> str:
    moment = written_moment(cell)
    if moment is None:
        raise InvalidField(
            name, f"must be a time such as 2024-05-31T12:00:00Z or 31.05.2024 12:00, not {shown_name(cell)}"
        )
    return moment.isoformat()


def _value(name: str, cell: str) -> object:
    cell = cell.strip()
    _refuse_mangled(name, cell)
    if name in _NUMBERS and (whole := _WHOLE.fullmatch(cell)):
        return int(whole[1])
    if name in LIMIT_TIMES:
        return _time(name, cell)
    if name == "click_to_continue":
        return parse_flag(name, cell)
    if name == TAGS:
        return [tag for tag in cell.split(",") if tag.strip()]
    return _json(name, cell) if name in _JSON else cell


def _json(name: str, cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise InvalidField(name, f"must be a JSON {_JSON[name]}") from None

"""Rules for fields that only calls have, both of the browser SDK and of servers.

The rules that all requests share are in domain/fields/rules.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from backend.domain.errors import InvalidField
from backend.domain.fields import money
from backend.domain.fields.rules import CONTROL, SURROGATE, Moment, Rule, Schema, parse_string
from backend.domain.visitors.call_texts import as_stored, trimmed
from backend.domain.visitors.sources import SIGNALS

MOST_NOTES = 10
_UNFILLED_RULE = "must be filled in: undefined, null, NaN and {{…}} are what templates leave"
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# What a site's link to another site of its owner carries (sdk_src/other_domains.py).
_HANDED_DEVICE = re.compile(r"([?&])cl_device=[^&#]*(?:&cl_device=[^&#]*)*(&?)")
# Fields that are sent hashed only.
CLEAR_CONTACTS = frozenset({"email", "phone"})


class LenientRule(ABC):
    """A rule that accepts some bad values and repairs them. `notes` says what it changed.

    Its `parse` gives None for a value that it leaves out.
    """

    @abstractmethod
    def notes(self, field: str, value: Any) -> Iterable[str]:
        """Sentences on what was cut or left out of the value that `parse` accepted."""


@dataclass(frozen=True, slots=True)
class AddressText(LenientRule):
    """Text from a page's address.

    A visitor may have typed anything there, and the visit happened all the same: so unreadable characters are
    replaced, and text that is too long is cut. A device that another site of the owner handed over is no part
    of the page, and is left out.
    """

    max_length: int

    def parse(self, field: str, value: object) -> str:
        """The text, with unreadable characters replaced and at most `max_length` characters long."""
        if not isinstance(value, str):
            raise InvalidField(field, "must be a string")
        return _readable(_without_handed_device(value)[: self.max_length])

    def notes(self, field: str, value: str) -> Iterable[str]:
        """One sentence if the text was cut, else nothing."""
        if len(_without_handed_device(value)) > self.max_length:
            yield f"{field} was cut to {self.max_length} characters"

    def schema(self) -> Schema:
        """JSON Schema of any string."""
        return {"type": "string"}


class SignalsRule(LenientRule):
    """The parts of a page's address that tell where its visitor came from (contract, SDK rule 3)."""

    _VALUE = AddressText(512)

    def parse(self, field: str, value: object) -> dict[str, str]:
        """The known signals that have a value, by name."""
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        return {
            name: self._VALUE.parse(f"{field}.{name}", value[name]) for name in SIGNALS if value.get(name)
        }

    def notes(self, field: str, value: dict[str, Any]) -> Iterable[str]:
        """Sentences on signals that were unknown or too long."""
        yield from notes_on_unknown([name for name in value if name not in SIGNALS], f"{field}.")
        for name in SIGNALS:
            yield from self._VALUE.notes(f"{field}.{name}", value.get(name) or "")

    def schema(self) -> Schema:
        """JSON Schema of an object whose values are strings."""
        return {"type": "object", "properties": {name: self._VALUE.schema() for name in SIGNALS}}


@dataclass(frozen=True, slots=True)
class CallText(LenientRule):
    """Text of 1 to `max_length` characters (code points), not counting blanks around it."""

    max_length: int

    def parse(self, field: str, value: object) -> str:
        """The text as it is stored (`as_stored`). Raises InvalidField."""
        if not isinstance(value, str):
            raise InvalidField(field, "must be a string")
        text = trimmed(value)
        if not text:
            raise InvalidField(field, "must not be empty")
        if len(text) > self.max_length:
            raise InvalidField(field, f"must have at most {self.max_length} characters")
        return as_stored(text)

    def notes(self, field: str, value: str) -> Iterable[str]:
        """Sentences on what was removed besides white space, or replaced."""
        if value.isascii() and value.isprintable():  # nearly always, and quick to find out
            return
        if CONTROL.search(value.strip()):
            yield f"control characters in {field} were removed"
        if SURROGATE.search(value):
            yield f"half characters (lone surrogates) in {field} were replaced"

    def schema(self) -> Schema:
        """JSON Schema of a string with these lengths."""
        return {"type": "string", "minLength": 1, "maxLength": self.max_length}


@dataclass(frozen=True, slots=True)
class IdText(CallText):
    """An id: such a text, or a whole number, whose digits are the text.

    JavaScript keeps whole numbers up to MOST exactly; a larger one may have become another one.
    """

    MOST = 2**53 - 1

    def parse(self, field: str, value: object) -> str:
        """The text as it is stored. Raises InvalidField."""
        if not isinstance(value, int) or isinstance(value, bool):
            return CallText.parse(self, field, value)
        if abs(value) > self.MOST:
            rule = f"must be a string: JavaScript keeps whole numbers only up to {self.MOST}"
            raise InvalidField(field, rule, value)
        return str(value)

    def notes(self, field: str, value: str | int) -> Iterable[str]:
        """Sentences on what was removed besides white space, or replaced."""
        return CallText.notes(self, field, value) if isinstance(value, str) else ()

    def schema(self) -> Schema:
        """JSON Schema of such a text or number."""
        number = {"type": "integer", "minimum": -self.MOST, "maximum": self.MOST}
        return {"anyOf": [CallText.schema(self), number]}


@dataclass(frozen=True, slots=True)
class FilledId(IdText):
    """An id of somebody or something that is counted once, which a template has filled in.

    Where a page's template finds no value, all visitors bring the same text. As an id it would make them one
    customer, and their sales one sale.
    """

    # Most have no digits, which nearly all ids have.
    _UNFILLED = re.compile(
        r"""
        # words that languages and spreadsheets write where a value is missing
        [(<\#]?(?:null|nil|nan|none|n/a|not\ set|undefined|empty)[)>]? | true | false | \\n | (?:null[\W_]*)+
        # the same, or nothing, behind what a page puts before its ids
        | (?:ord(?:er)?|user|cust?(?:omer)?|transaction|txn|invoice|id)
          (?:[-_\#:./\ ]*(?:null|nil|nan|none)|[-_\#:./\ ]+)
        | (?-i:(?:.*[-_\#:/\ ])?NaN(?:[-_\#:/\ ].*)?) | .*undefined.* | .*\[object\ .* | function\b.*\(.*
        # marks of templates, with a name between them
        | %.*% | [\[{<]\D*[\]}>] | .*(?:[{$\#%]\{|<%|\*\|).* | %\(\w+\)s | %[sd] | \{\d\}
        | (?-i:__[A-Z_]+__) | \$+[a-z_][a-z_.>-]*\$* | \#+[a-z_.\ ]+\#+
        # names that examples have in the place of ids
        | (?:(?:your|my|insert)[-_\ ]?)?(?:order|transaction|customer|user)[-_\ ]?(?:id|number)
        # the UUID that stands for none (RFC 9562, 5.9)
        | \{?0{8}-(?:0{4}-){3}0{12}\}?
        # a stroke or a few, as tables have them in empty cells
        | [-\u2013\u2014_.?*/|()]{1,3}
        """,
        re.IGNORECASE | re.DOTALL | re.VERBOSE,
    )

    def parse(self, field: str, value: object) -> str:
        """The id as it is stored. Raises InvalidField, also for what a template left unfilled."""
        text = IdText.parse(self, field, value)
        if self.is_unfilled(text):
            raise InvalidField(field, _UNFILLED_RULE, value)
        return text

    @classmethod
    def is_unfilled(cls, text: str) -> bool:
        """Whether a template left this text unfilled, also percent-encoded."""
        texts = [text, unquote(text)] if "%" in text else [text]
        return any(map(cls._UNFILLED.fullmatch, texts))


@dataclass(frozen=True, slots=True)
class FilledIdOrNone(FilledId):
    """Such an id of a call that counts without it: one that is unfilled is left out."""

    def parse(self, field: str, value: object) -> str | None:  # type: ignore[override]
        """The id as it is stored; None if a template left it unfilled. Raises InvalidField."""
        text = IdText.parse(self, field, value)
        return None if self.is_unfilled(text) else text

    def notes(self, field: str, value: str | int) -> Iterable[str]:
        """Sentences on what was changed; one if the id was left out."""
        if self.parse(field, value) is None:
            yield f"{field} was left out: it {_UNFILLED_RULE}"
        else:
            yield from IdText.notes(self, field, value)


@dataclass(frozen=True, slots=True)
class CallTime(LenientRule):
    """A time that begins with a date. One that is not in the calendar, or goes on otherwise, is left out."""

    PATTERN = r"\d{4}-[01]\d-[0-3]\d"
    _BEGINNING = re.compile(PATTERN, re.ASCII)

    text: CallText

    def parse(self, field: str, value: object) -> datetime | None:
        """The time in UTC; None if it is left out. Raises InvalidField for what begins with no date."""
        text = self.text.parse(field, value)
        if not self._BEGINNING.match(text):
            raise InvalidField(field, "must begin with an ISO 8601 date, such as 2026-03-01")
        try:
            return Moment().parse(field, text)
        except InvalidField:
            return None

    def notes(self, field: str, value: str) -> Iterable[str]:
        """One sentence if the time was left out, else nothing."""
        if self.parse(field, value) is None:
            yield f"{field} was left out: it is no ISO 8601 time, such as 2026-03-01T12:00:00.000Z"

    def schema(self) -> Schema:
        """JSON Schema of a date and time."""
        return Moment().schema()


class Sha256:
    """A SHA-256 hash in hexadecimal digits. Blanks around it do not count."""

    PATTERN = r"[\da-f]{64}"
    _DIGITS = re.compile(PATTERN, re.ASCII)

    def parse(self, field: str, value: object) -> str:
        """The hash in lower case. Raises InvalidField."""
        text = trimmed(parse_string(field, value)).lower()
        if not self._DIGITS.fullmatch(text):
            raise InvalidField(field, "must be a SHA-256 in 64 hexadecimal digits")
        return text

    def schema(self) -> Schema:
        """JSON Schema of 64 hexadecimal digits."""
        return {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}


class Amount:
    """An amount of money. It is rounded later, once its currency is known (`money.rounded`)."""

    def parse(self, field: str, value: object) -> Decimal:
        """The amount as an exact decimal, not yet rounded. Raises InvalidField."""
        try:
            return money.parse_amount(trimmed(value) if isinstance(value, str) else value)
        except money.InvalidAmount as error:
            raise InvalidField(field, str(error), value if isinstance(value, str) else None) from None

    def schema(self) -> Schema:
        """JSON Schema of a number, or of its digits as text."""
        number = {"type": "number", "minimum": 0, "maximum": int(money.LARGEST)}
        return {"anyOf": [number, {"type": "string", "pattern": f"^({money.PLAIN_TEXT})$"}]}


class CurrencyCode:
    """A currency code of ISO 4217, such as EUR, also one that has ended. Blanks around it do not count."""

    def parse(self, field: str, value: object) -> str:
        """The code in capitals. Raises InvalidField."""
        try:
            code = trimmed(value) if isinstance(value, str) else value
            return money.parse_currency(code, may_have_ended=True)
        except money.InvalidCurrency as error:
            raise InvalidField(field, str(error)) from None

    def schema(self) -> Schema:
        """JSON Schema of three letters."""
        return {"type": "string", "pattern": "^[A-Za-z]{3}$"}


def notes_of(rules: Mapping[str, Rule[Any]], fields: Mapping[str, Any]) -> list[str]:
    """Sentences on what lenient rules changed of the given fields, or left out."""
    lenient = [(name, rule) for name, rule in rules.items() if isinstance(rule, LenientRule)]
    return [note for name, rule in lenient if name in fields for note in rule.notes(name, fields[name])]


def notes_on_unknown(names: Sequence[str], prefix: str = "", allowed: Container[str] = ()) -> list[str]:
    """Sentences that say that these unknown fields were left out. At most ten are named.

    `prefix` is put before each name, such as `data.`. `allowed` are the fields that could have been sent.
    """
    notes = [f"{prefix}{shown(name)} {_why_left_out(name, allowed)}" for name in names[:MOST_NOTES]]
    if more := len(names) - len(notes):
        notes.append(f"{more} more fields are unknown and were left out")
    return notes


def shown(name: str) -> str:
    """A name of the caller's as a note has it: readable, and not long."""
    return _readable(name)[:64]


def _without_handed_device(address: str) -> str:
    return _HANDED_DEVICE.sub(lambda found: found[1] if found[2] else "", address)


def _why_left_out(name: str, allowed: Container[str]) -> str:
    if name in CLEAR_CONTACTS and f"{name}_sha256" in allowed:
        return f"was left out: it must be hashed; send {name}_sha256"
    return "is unknown and was left out"


def _readable(text: str) -> str:
    if text.isascii() and text.isprintable():  # nearly always, and quick to find out
        return text
    return _UNREADABLE.sub("�", text)

"""Rules for fields that only the browser SDK's calls have.

Rules that all requests share: domain/field_rules.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from backend.domain import money
from backend.domain.attribution import SIGNALS
from backend.domain.errors import InvalidField
from backend.domain.field_rules import JsonObject, Schema

MOST_NOTES = 10
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# Fields that are sent hashed only.
CLEAR_CONTACTS = frozenset({"email", "phone"})


class LenientRule(ABC):
    """A rule that accepts some bad values and repairs them. `notes` says what it changed."""

    @abstractmethod
    def notes(self, field: str, value: Any) -> Iterable[str]:
        """Sentences on what was cut or left out of the value that `parse` accepted."""


@dataclass(frozen=True, slots=True)
class AddressText(LenientRule):
    """Text from a page's address.

    A visitor may have typed anything there, and the visit happened all the same: so unreadable characters are
    replaced, and text that is too long is cut.
    """

    max_length: int

    def parse(self, field: str, value: object) -> str:
        """The text, with unreadable characters replaced and at most `max_length` characters long."""
        if not isinstance(value, str):
            raise InvalidField(field, "must be a string")
        return _readable(value[: self.max_length])

    def notes(self, field: str, value: str) -> Iterable[str]:
        """One sentence if the text was cut, else nothing."""
        if len(value) > self.max_length:
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


class Metadata:
    """A site's own data on an event: a JSON object of at most 4 KiB and eight levels."""

    _OBJECT = JsonObject(max_bytes=4096, max_depth=8)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The object. Its numbers become floats: only money has to be exact. Raises InvalidField."""
        self._OBJECT.check_depth(field, value)
        return self._OBJECT.parse(field, _without_decimals(value))

    def schema(self) -> Schema:
        """JSON Schema of any object."""
        return self._OBJECT.schema()


class Amount:
    """An amount of money. It is rounded later, once its currency is known (`money.rounded`)."""

    def parse(self, field: str, value: object) -> Decimal:
        """The amount as an exact decimal, not yet rounded. Raises InvalidField."""
        try:
            return money.parse_amount(value)
        except money.InvalidAmount as error:
            raise InvalidField(field, str(error)) from None

    def schema(self) -> Schema:
        """JSON Schema of a number."""
        return {"type": "number", "minimum": 0, "maximum": int(money.LARGEST)}


class CurrencyCode:
    """A currency code of ISO 4217, such as EUR."""

    def parse(self, field: str, value: object) -> str:
        """The code in capitals. Raises InvalidField."""
        try:
            return money.parse_currency(value)
        except money.InvalidCurrency as error:
            raise InvalidField(field, str(error)) from None

    def schema(self) -> Schema:
        """JSON Schema of three letters."""
        return {"type": "string", "pattern": "^[A-Za-z]{3}$"}


def notes_on_unknown(names: Sequence[str], prefix: str = "", known: Container[str] = ()) -> list[str]:
    """Sentences that say that these unknown fields were left out. At most ten are named.

    `prefix` is put before each name, such as `data.`. `known` are the fields that could have been sent.
    """
    notes = [f"{prefix}{_readable(name)[:64]} {_why_left_out(name, known)}" for name in names[:MOST_NOTES]]
    if more := len(names) - len(notes):
        notes.append(f"{more} more fields are unknown and were left out")
    return notes


def _why_left_out(name: str, known: Container[str]) -> str:
    if name in CLEAR_CONTACTS and f"{name}_sha256" in known:
        return f"was left out: it must be hashed; send {name}_sha256"
    return "is unknown and was left out"


def _readable(text: str) -> str:
    if text.isascii() and text.isprintable():  # nearly always, and quick to find out
        return text
    return _UNREADABLE.sub("�", text)


def _without_decimals(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_decimals(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_decimals(each) for each in value]
    return float(value) if isinstance(value, Decimal) else value

"""A field of a resource: its rule, and how requests, documents, answers and commands have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Rule, Schema, Word
from backend.domain.fields.times.json_times import time_json


class MadeBy(StrEnum):
    """How something was made."""

    PERSON = "person"  # in the dashboard or on the command line
    REST = "rest"


class StoredTime:
    """A time that the service itself has noted."""

    def parse(self, field: str, value: object) -> datetime:
        """The time, unchanged. Raises InvalidField."""
        if not isinstance(value, datetime):
            raise InvalidField(field, "must be a date")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the time in answers."""
        return {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}


class Referent(Enum):
    """What the id in a field is of. Only such things of the same organization may be named."""

    LINK = "link"


@dataclass(frozen=True, slots=True)
class CommandOption:
    """The option of the command line that gives a field, as text or as JSON."""

    name: str
    help: str
    metavar: str | None = None
    is_json: bool = False


@dataclass(frozen=True, slots=True)
class StoredForm:
    """The fields of documents that have a value together, with their rules, and how the value gives them."""

    rules: Mapping[str, Rule[Any]]
    values: Callable[[Any], Mapping[str, Any]]


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceField:
    """A field of a resource.

    `rule` is that of requests and of documents. `answer` is the JSON Schema of its value in answers, where
    that is not the rule's. A field that is not `is_told` is the service's own: no request may have it. One
    that is `is_clearable` may be null or an empty text in requests, and is None then.

    `refers_to` says what its value is the id of; with `goes_along` the thing is deleted together with that.
    `stored` says which fields documents have in its place; `load` makes its value of the one that they have
    else. `shown` makes what answers have of the whole thing. `option` is that of the command `add`, if it is
    one.
    """

    rule: Rule[Any]
    answer: Schema | None = None
    is_told: bool = True
    is_required: bool = False
    is_clearable: bool = False
    refers_to: Referent | None = None
    goes_along: bool = False
    stored: StoredForm | None = None
    load: Callable[[Any], Any] = _as_it_is
    shown: Callable[[Any], Any] | None = None
    option: CommandOption | None = None

    @property
    def answer_schema(self) -> Schema:
        """JSON Schema of its value in answers."""
        return self.rule.schema() if self.answer is None else self.answer

    def stored_rules(self, name: str) -> Mapping[str, Rule[Any]]:
        """The rules of the fields that documents have of it, if its own name is this one."""
        return self.stored.rules if self.stored else {name: self.rule}

    def stored_values(self, name: str, value: Any) -> Mapping[str, Any]:
        """What documents have of this value, parsed by its rule."""
        return self.stored.values(value) if self.stored else {name: _plain(value)}


# When, and how, the thing was made: the service fills these in.
CREATED_AT = ResourceField(rule=StoredTime(), is_told=False)
CREATED_BY = ResourceField(rule=Word(MadeBy), is_told=False, load=MadeBy)


def plain_json(value: Any) -> Any:
    """A value of a thing as JSON has it."""
    return time_json(value) if isinstance(value, datetime) else _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    return list(value) if isinstance(value, tuple) else value

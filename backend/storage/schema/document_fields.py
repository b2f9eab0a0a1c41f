"""Checks for the fields of stored documents, of which shapes and archived_documents are built.

They are not the rules of a request's fields (domain/fields/rules.py). A stored value has MongoDB's types, may
be empty, or longer than requests may give today, and it is never changed, only refused. If the rule of a
request holds for stored values too, archived_documents uses that rule. No check here has a limit of its own:
what is longest, or most, is said once, where it is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bson import Decimal128, ObjectId, Timestamp

from backend.domain.accounts.organizations import MOST_DAYS
from backend.domain.accounts.users import is_password_hash
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import CONTROL, CONTROL_BUT_LINES, JsonObject, is_token, parse_string
from backend.storage.driver.mongo import Document

# Returns the value as the service would store it. Raises ValueError (also InvalidField) or TypeError.
Parse = Callable[[str, Any], object]
# How a time zone may be called: hosts have lists of different ages.
_ZONE_NAME = re.compile(r"[A-Za-z][\w+-]{0,40}(?:/[\w+-]{1,40}){0,3}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BINARY_FIELDS = {"image", "packed", "public_key", "seconds", "visitors"}
# A link's own data, in the link of a fact of an entry of the feed.
_DEEPEST = JsonObject().max_depth + len(("facts", "fact", "link", "custom_data"))
_JSON_FIELDS = {"answer", "custom_data", "metadata"}


def check_plain(name: str, value: object, depth: int = 0, *, is_json: bool = False) -> None:
    """Raise InvalidField unless the value contains only types that the service stores.

    Except in JSON, text must be free of characters that control a terminal.
    """
    is_json = is_json or name in _JSON_FIELDS
    if depth > _DEEPEST:
        raise InvalidField(name, f"must have at most {_DEEPEST} levels")
    if isinstance(value, dict):
        for key, inner in value.items():
            _plain_text("a field's name", key, is_json=is_json)
            if key.startswith("$"):
                raise InvalidField(name, "must not have names that begin with $")
            check_plain(key, inner, depth + 1, is_json=is_json)
    elif isinstance(value, list):
        for inner in value:
            check_plain(name, inner, depth + 1, is_json=is_json)
    elif isinstance(value, str):
        _plain_text(name, value, is_json=is_json)
    elif isinstance(value, bytes):
        if name not in _BINARY_FIELDS:
            raise InvalidField(name, "must not be bytes")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidField(name, "must be a finite number")
    elif not isinstance(value, int | float | datetime | Timestamp | Decimal128 | ObjectId | None):
        raise InvalidField(name, f"must not be a {type(value).__name__}")


def _plain_text(name: str, value: object, *, is_json: bool) -> None:
    text = parse_string(name, value)
    if not is_json and CONTROL_BUT_LINES.search(text):
        raise InvalidField(name, "must not contain control characters")


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """The fields of a document besides `_id` and `org_id`.

    With `is_open`, it may also have other plain data.
    """

    required: Mapping[str, Parse]
    optional: Mapping[str, Parse] = field(default_factory=dict)
    is_open: bool = False

    def check(self, document: Document) -> None:
        """Raise InvalidField, ValueError or TypeError for a field that breaks a rule."""
        for name in self.required:
            if name not in document:
                raise InvalidField(name, "is missing")
        rules = {**self.required, **self.optional}
        for name, value in document.items():
            if name in {"_id", "org_id"}:
                continue
            if name in rules:
                as_stored(name, value, rules[name])
            elif not self.is_open:
                raise InvalidField(name, "is not a field of such a document")


def as_stored(name: str, value: object, parse: Parse) -> None:
    """Raise InvalidField unless the value is in its stored form, which `parse` does not change."""
    try:
        same = parse(name, value) == value
    except InvalidField:
        raise
    except (ValueError, TypeError) as error:
        raise InvalidField(name, f"has a value that can't be: {error}") from None
    if not same:
        raise InvalidField(name, "is not in the form in which it is stored")


def time(name: str, value: object) -> object:
    """A date with a time."""
    if not isinstance(value, datetime):
        raise InvalidField(name, "must be a date")
    return value


def or_none(parse: Parse) -> Parse:
    """A check that accepts None, and otherwise does what `parse` does."""
    return lambda name, value: None if value is None else parse(name, value)


def text(name: str, value: object) -> object:
    """A text without control characters, as the service makes it itself: an id, a name, a sentence."""
    string = parse_string(name, value)
    if CONTROL.search(string):
        raise InvalidField(name, "must not contain control characters")
    return string


def text_of(longest: int) -> Parse:
    """A check for such a text of at most `longest` characters."""

    def check(name: str, value: object) -> object:
        if len(parse_string(name, value)) > longest:
            raise InvalidField(name, f"must have at most {longest} characters")
        return text(name, value)

    return check


def sha256(name: str, value: object) -> object:
    """A SHA-256 in hexadecimal digits."""
    if not _SHA256.fullmatch(parse_string(name, value)):
        raise InvalidField(name, "must be a SHA-256 in 64 hexadecimal digits")
    return value


def password_hash(name: str, value: object) -> object:
    """A hash of a password."""
    if not is_password_hash(parse_string(name, value)):
        raise InvalidField(name, "must be a hash by Argon2id, of no more work than ours")
    return value


def url_token(name: str, value: object) -> object:
    """A token of a URL, as the service makes them."""
    if not is_token(parse_string(name, value)):
        raise InvalidField(name, "must be a token as the service makes them")
    return value


def time_zone(name: str, value: object) -> object:
    """The name of a time zone, which this host need not know."""
    if not _ZONE_NAME.fullmatch(parse_string(name, value)):
        raise InvalidField(name, "must be the name of a time zone")
    return value


def one_of(choices: type[StrEnum]) -> Parse:
    """A check for a word of this enumeration."""
    words = [choice.value for choice in choices]

    def parse(name: str, value: object) -> object:
        if value not in words:
            raise InvalidField(name, f"must be one of {', '.join(words)}")
        return value

    return parse


def list_of(parse: Parse, longest: int | None) -> Parse:
    """A check for a list of at most `longest` values, each checked by `parse`.

    None is for lists that grow with what happens, as far as a document can.
    """

    def check(name: str, value: object) -> object:
        if not isinstance(value, list):
            raise InvalidField(name, "must be a list")
        if longest is not None and len(value) > longest:
            raise InvalidField(name, f"must be a list of at most {longest}")
        return [parse(name, item) for item in value]

    return check


def integer(name: str, value: object) -> object:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidField(name, "must be a whole number")
    return value


def count(name: str, value: object) -> object:
    """A whole number from 0."""
    if not isinstance(number := integer(name, value), int) or not 0 <= number < 2**62:
        raise InvalidField(name, "must be a whole number from 0")
    return number


def binary(name: str, value: object) -> object:
    """Bytes."""
    if not isinstance(value, bytes):
        raise InvalidField(name, "must be bytes")
    return value


def days_from(fewest: int) -> Parse:
    """A check for a number of days that is at least this one."""

    def days(name: str, value: object) -> object:
        if type(value) is not int or not fewest <= value <= MOST_DAYS:
            raise InvalidField(name, f"must be a number of days from {fewest}")
        return value

    return days


def texts(name: str, value: object) -> object:
    """A document whose values are all text."""
    if not isinstance(value, dict):
        raise InvalidField(name, "must be a document")
    return {key: parse_string(name, text) for key, text in value.items()}


def nested(fields: DocumentFields) -> Parse:
    """A check for a document inside a document."""

    def parse(name: str, value: object) -> object:
        if not isinstance(value, dict):
            raise InvalidField(name, "must be a document")
        fields.check(value)
        return value

    return parse


def true(name: str, value: object) -> object:
    """True, of a field that is else left out."""
    if value is not True:
        raise InvalidField(name, "must be true, or left out")
    return value


def anything(_: str, value: object) -> object:
    """Any value, which is checked elsewhere."""
    return value

"""Rules for the values of fields: each checks a value, and describes what it accepts as JSON Schema."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from backend.domain.errors import InvalidField
from backend.domain.host_names import InvalidHostName, is_ip_address, normalize_host

Schema = dict[str, Any]
ValueT_co = TypeVar("ValueT_co", covariant=True)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Unicode's Bidi_Control: they make a text read otherwise than it is, "gpj.exe" for "exe.jpg".
_BIDI_CONTROL = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NO_URL_CHARACTER = re.compile(r"[\x00-\x20\x7f-\x9f\s\\<>\"{}|^`]")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Rule(Protocol[ValueT_co]):
    """What a field accepts."""

    def parse(self, field: str, value: object) -> ValueT_co:
        """The value as it is stored; raises InvalidField."""

    def schema(self) -> Schema:
        """JSON Schema (2020-12) of what `parse` accepts, as far as JSON Schema can say it."""


@dataclass(frozen=True, slots=True)
class Text:
    """Text of 1 to `max_length` characters, without control characters; `lines` allows line ends and tabs.

    A name or text that is `shown` to others has no bidirectional control characters either.
    """

    max_length: int
    lines: bool = False
    shown: bool = False

    def parse(self, field: str, value: object) -> str:
        """The text."""
        text = parse_string(field, value)
        if not text.strip():
            raise InvalidField(field, "must not be empty")
        if len(text) > self.max_length:
            raise InvalidField(field, f"must have at most {self.max_length} characters")
        if (_CONTROL_BUT_LINES if self.lines else _CONTROL).search(text):
            raise InvalidField(field, "must not contain control characters")
        if self.shown and _BIDI_CONTROL.search(text):
            raise InvalidField(field, "must not contain bidirectional control characters")
        return text

    def schema(self) -> Schema:
        """A string with its lengths."""
        return {"type": "string", "minLength": 1, "maxLength": self.max_length}


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An absolute http or https URL of at most `max_bytes` bytes, without user name."""

    max_bytes: int = 8192

    def parse(self, field: str, value: object) -> str:
        """The URL, unchanged."""
        url = parse_string(field, value)
        if not url:
            raise InvalidField(field, "must not be empty")
        if len(url.encode()) > self.max_bytes:
            raise InvalidField(field, f"must have at most {self.max_bytes} bytes")
        if _NO_URL_CHARACTER.search(url) or not _is_web_address(url):
            raise InvalidField(field, "must be an absolute http or https URL")
        if "@" in urlsplit(url).netloc:
            # https://known.example@other.example leads to other.example.
            raise InvalidField(field, "must not contain a user name or password before its host")
        return url

    def schema(self) -> Schema:
        """A string that begins as a web address does."""
        return {
            "type": "string",
            "format": "iri",
            "maxLength": self.max_bytes,
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$",
        }


class Uuid:
    """A UUID in its usual form."""

    def parse(self, field: str, value: object) -> str:
        """The UUID in lower case."""
        if not isinstance(value, str) or not is_uuid(value):
            raise InvalidField(field, "must be a UUID")
        return value.lower()

    def schema(self) -> Schema:
        """A string in that form."""
        return {"type": "string", "format": "uuid"}


class Moment:
    """A moment as ISO 8601 writes it."""

    def parse(self, field: str, value: object) -> datetime:
        """The moment in UTC, which it is taken for where it names no offset."""
        text = parse_string(field, value)
        try:
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            rule = "must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z"
            raise InvalidField(field, rule) from None

    def schema(self) -> Schema:
        """A string in that form."""
        return {"type": "string", "format": "date-time"}


class Sha256:
    """A SHA-256."""

    _DIGITS = re.compile(r"[0-9a-f]{64}")

    def parse(self, field: str, value: object) -> str:
        """The hash in lower case."""
        text = parse_string(field, value).lower()
        if not self._DIGITS.fullmatch(text):
            raise InvalidField(field, "must be a SHA-256 in 64 hexadecimal digits")
        return text

    def schema(self) -> Schema:
        """Its digits."""
        return {"type": "string", "pattern": "^[0-9A-Fa-f]{64}$"}


class HostName:
    """A host name, in the one form in which it is stored."""

    def parse(self, field: str, value: object) -> str:
        """The normalized name."""
        try:
            return normalize_host(parse_string(field, value))
        except InvalidHostName as error:
            raise InvalidField(field, str(error)) from None

    def schema(self) -> Schema:
        """A string."""
        return {"type": "string", "minLength": 1, "maxLength": 253}


class LinkPath:
    """The path of a short URL (decisions, "selected_path")."""

    MAX_LENGTH = 512
    MAX_SEGMENTS = 8
    RESERVED = frozenset({"robots.txt", "favicon.ico", "apple-app-site-association"})
    _SEGMENT = re.compile(r"[A-Za-z0-9\-_.~]+")

    def parse(self, field: str, value: object) -> str:
        """The path, unchanged."""
        path = parse_string(field, value)
        segments = path.split("/")
        if not all(self._SEGMENT.fullmatch(segment) and segment not in {".", ".."} for segment in segments):
            raise InvalidField(
                field,
                "must be segments of letters, digits and - _ . ~, separated by single slashes, "
                "and no segment may be . or ..",
            )
        if len(segments) > self.MAX_SEGMENTS or len(path) > self.MAX_LENGTH:
            raise InvalidField(
                field, f"must have at most {self.MAX_SEGMENTS} segments and {self.MAX_LENGTH} characters"
            )
        if path in self.RESERVED or segments[0] == ".well-known":
            raise InvalidField(field, f"must not be {path}, which is reserved")
        return path

    def schema(self) -> Schema:
        """A string of segments."""
        segment = "[A-Za-z0-9\\-_.~]+"
        return {
            "type": "string",
            "maxLength": self.MAX_LENGTH,
            "pattern": f"^{segment}(/{segment}){{0,{self.MAX_SEGMENTS - 1}}}$",
        }


@dataclass(frozen=True, slots=True)
class Number:
    """One of the numbers of an enumeration; `meaning` says what they stand for."""

    choices: type[IntEnum]
    meaning: str

    def parse(self, field: str, value: object) -> IntEnum:
        """The member; a boolean is no integer."""
        if type(value) is not int or value not in list(self.choices):
            raise InvalidField(field, f"must be {self.meaning}")
        return self.choices(value)

    def schema(self) -> Schema:
        """An integer among the members' values."""
        return {"type": "integer", "enum": [member.value for member in self.choices]}


@dataclass(frozen=True, slots=True)
class Word:
    """One of the words of an enumeration."""

    choices: type[StrEnum]

    def parse(self, field: str, value: object) -> StrEnum:
        """The member."""
        words = [member.value for member in self.choices]
        if not isinstance(value, str) or value not in words:
            raise InvalidField(field, f"must be one of {', '.join(words)}")
        return self.choices(value)

    def schema(self) -> Schema:
        """A string among the members' values."""
        return {"type": "string", "enum": [member.value for member in self.choices]}


class Flag:
    """True or false."""

    def parse(self, field: str, value: object) -> bool:
        """The boolean; 0, 1 and texts are none."""
        if not isinstance(value, bool):
            raise InvalidField(field, "must be true or false")
        return value

    def schema(self) -> Schema:
        """A boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object of at most `max_bytes` bytes, written compactly in UTF-8, and `max_depth` levels."""

    max_bytes: int = 4096
    max_depth: int = 16

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The object, unchanged."""
        self.check_depth(field, value)
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        self._check(field, value)
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > self.max_bytes:
            raise InvalidField(field, f"must have at most {self.max_bytes} bytes as JSON")
        return value

    def check_depth(self, field: str, value: object) -> None:
        """Raises InvalidField for too many levels: whatever else walks through a value must be able to."""
        level = [value]
        for _ in range(self.max_depth):
            level = [inner for each in level for inner in _items(each)]
        if level:
            raise InvalidField(field, f"must have at most {self.max_depth} levels")

    def _check(self, field: str, value: object) -> None:
        if isinstance(value, dict):
            self._check_names(field, value)
        for inner in _items(value):
            self._check(field, inner)
        _check_scalar(field, value)

    def _check_names(self, field: str, value: Mapping[str, object]) -> None:
        for name in value:
            _check_scalar(field, name)
            if name.startswith("$") or "\x00" in name:
                raise InvalidField(field, "must not have names that begin with $ or contain NUL")

    def schema(self) -> Schema:
        """An object whose names do not begin with $."""
        return {"type": "object", "propertyNames": {"pattern": "^[^$\\u0000]*$"}, "maxProperties": 500}


def parse_string(field: str, value: object) -> str:
    """The value, which must be a text that UTF-8 can hold."""
    if not isinstance(value, str):
        raise InvalidField(field, "must be a string")
    if _SURROGATE.search(value):
        raise InvalidField(field, "must be valid Unicode, without lone surrogates")
    return value


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID in its usual form, 8-4-4-4-12 hexadecimal digits."""
    return _UUID.fullmatch(text) is not None


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_scalar(field: str, value: object) -> None:
    if isinstance(value, str) and _SURROGATE.search(value):
        raise InvalidField(field, "must be valid Unicode, without lone surrogates")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidField(field, "must not hold integers of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidField(field, "must not hold numbers too large for a double")


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - the property raises ValueError for what is no port
        return parts.scheme in {"http", "https"} and _is_host(parts)
    except ValueError:
        return False


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    if is_ip_address(host):
        return True
    # Host names of web servers may have underscores, which link domains may not.
    return bool(normalize_host(host.replace("_", "x")))

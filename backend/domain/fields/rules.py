"""Rules for the values of fields. Each rule checks a value, and describes in JSON Schema what it accepts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import can_ada

from backend.domain.errors import FieldError, InvalidField
from backend.domain.fields.pasted_addresses import pasted_address
from backend.domain.web.host_names import InvalidHostName, is_ip_address, normalize_host, plainly_written_host

Schema = dict[str, Any]
ValueT_co = TypeVar("ValueT_co", covariant=True)

# Characters that control a terminal; with the second one, line ends and tabs are allowed.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
# Unicode's Bidi_Control: with them, "exe.jpg" can be shown as "gpj.exe".
_BIDI_CONTROL = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
# What comes of an address that is pasted behind the https:// of a form.
_SCHEME_TWICE = re.compile(r"https?://https?(?::?[/?#]|:?$)", re.IGNORECASE)
_NO_URL_CHARACTER = re.compile(r"[\x00-\x20\x7f-\x9f\s\\<>\"{}|^`]")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class Rule(Protocol[ValueT_co]):
    """A rule for the value of one field."""

    def parse(self, field: str, value: object) -> ValueT_co:
        """The value in the form in which it is stored. Raises InvalidField if it breaks the rule."""

    def schema(self) -> Schema:
        """JSON Schema (2020-12) of what `parse` accepts, as exactly as JSON Schema can say it."""


def parse_fields(
    rules: Mapping[str, Rule[Any]], fields: Mapping[str, object], errors: list[FieldError], prefix: str = ""
) -> dict[str, Any]:
    """Those of the fields that have a rule, parsed, in the order of the rules.

    The errors of fields that break their rules are added to `errors`, with `prefix` before each name.
    """
    parsed = {}
    for name, rule in rules.items():
        if name in fields:
            try:
                parsed[name] = rule.parse(prefix + name, fields[name])
            except FieldError as error:
                errors.append(error)
    return parsed


@dataclass(frozen=True, slots=True)
class Text:
    """Text of 1 to `max_length` characters without control characters.

    With `lines`, line ends and tabs are allowed. With `shown` (text that other people will see), characters
    that change the writing direction are refused too.
    """

    max_length: int
    lines: bool = False
    shown: bool = False

    def parse(self, field: str, value: object) -> str:
        """The text, unchanged. Raises InvalidField."""
        text = parse_string(field, value)
        if not text.strip():
            raise InvalidField(field, "must not be empty")
        if len(text) > self.max_length:
            raise InvalidField(field, f"must have at most {self.max_length} characters")
        if text.isprintable():  # nearly always, and quick to find out
            return text
        if (CONTROL_BUT_LINES if self.lines else CONTROL).search(text):
            raise InvalidField(field, "must not contain control characters")
        if self.shown and _BIDI_CONTROL.search(text):
            raise InvalidField(field, "must not contain bidirectional control characters")
        return text

    def schema(self) -> Schema:
        """JSON Schema of a string with these lengths."""
        return {"type": "string", "minLength": 1, "maxLength": self.max_length}


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An absolute http or https URL of at most `max_bytes` bytes, without user name."""

    max_bytes: int = 8192

    def parse(self, field: str, value: object) -> str:
        """The URL as it was written, without blanks around it (`pasted_address`). Raises InvalidField."""
        url = pasted_address(field, parse_string(field, value))
        if not url:
            raise InvalidField(field, "must not be empty")
        if (len(url) if url.isascii() else len(url.encode())) > self.max_bytes:
            raise InvalidField(field, f"must have at most {self.max_bytes} bytes")
        if "{" in url or "}" in url:
            rule = "must be an absolute http or https URL, without { or }: write %7B and %7D"
            raise InvalidField(field, rule)
        if "\\" in url:
            raise InvalidField(field, "must be an absolute http or https URL, without \\: write / or %5C")
        if _NO_URL_CHARACTER.search(url) or not _is_web_address(url):
            raise InvalidField(field, "must be an absolute http or https URL")
        if not can_ada.can_parse(url):
            raise InvalidField(field, "must be an absolute http or https URL with a host that browsers open")
        if _SCHEME_TWICE.match(url):
            raise InvalidField(field, "must begin with https:// once: its host would be http or https")
        if "@" in url and "@" in urlsplit(url).netloc:
            # https://known.example@other.example leads to other.example.
            raise InvalidField(field, "must not contain a user name or password before its host")
        return url

    def schema(self) -> Schema:
        """JSON Schema of a string that starts with http:// or https://."""
        return {
            "type": "string",
            "format": "iri",
            "maxLength": self.max_bytes,
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s]+$",
        }


class Uuid:
    """A UUID of 8-4-4-4-12 hexadecimal digits."""

    def parse(self, field: str, value: object) -> str:
        """The UUID in lower case. Raises InvalidField."""
        if not isinstance(value, str) or not is_uuid(value):
            raise InvalidField(field, "must be a UUID")
        return value.lower()

    def schema(self) -> Schema:
        """JSON Schema of a UUID."""
        return {"type": "string", "format": "uuid"}


class Moment:
    """A date and time in ISO 8601."""

    def parse(self, field: str, value: object) -> datetime:
        """The time in UTC. A time without an offset is taken as UTC. Raises InvalidField."""
        text = parse_string(field, value)
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is UTC:
                return moment
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            rule = "must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z"
            raise InvalidField(field, rule) from None

    def schema(self) -> Schema:
        """JSON Schema of a date and time."""
        return {"type": "string", "format": "date-time"}


class Instant:
    """A date, which means its beginning in UTC, or a time in ISO 8601 with a zone."""

    PATTERN = r"\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}(:\d{2}([.]\d{1,6})?)?([Zz]|[+-]\d{2}:\d{2}))?"
    _SHAPE = re.compile(PATTERN, re.ASCII)

    def parse(self, field: str, value: object) -> datetime:
        """The time in UTC. Raises InvalidField."""
        text = str(value)
        try:
            if self._SHAPE.fullmatch(text):
                moment = datetime.fromisoformat(text.upper())
                return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            pass
        raise InvalidField(
            field, "must be a date, or an ISO 8601 time with a zone, such as 2026-03-01T12:00:00Z (+ as %2B)"
        )

    def schema(self) -> Schema:
        """JSON Schema of a date or time."""
        return {"type": "string", "pattern": f"^{self.PATTERN}$", "example": "2026-03-01T12:00:00Z"}


class WrittenInstant(Instant):
    """The same time with the offset that it was written with, so that days count by the writer's clock."""

    def parse(self, field: str, value: object) -> datetime:
        """The time. Raises InvalidField."""
        super().parse(field, value)
        moment = datetime.fromisoformat(str(value).upper())
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class HostName:
    """A host name. It is stored in one normal form (`normalize_host`)."""

    def parse(self, field: str, value: object) -> str:
        """The host name in its normal form. Raises InvalidField."""
        try:
            host = normalize_host(parse_string(field, value))
        except InvalidHostName as error:
            raise InvalidField(field, str(error)) from None
        if not can_ada.can_parse(f"https://{host}/"):
            raise InvalidField(field, "must be a host name that browsers open")
        return host

    def schema(self) -> Schema:
        """JSON Schema of any string."""
        return {"type": "string", "minLength": 1, "maxLength": 253}


class LinkPath:
    """The path of a short URL (decisions, "selected_path")."""

    MAX_LENGTH = 512
    MAX_SEGMENTS = 8
    RESERVED = frozenset({"robots.txt", "favicon.ico", "apple-app-site-association"})
    _SEGMENT = re.compile(r"[A-Za-z0-9\-_.~]+")

    def parse(self, field: str, value: object) -> str:
        """The path, unchanged. Raises InvalidField."""
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
        """JSON Schema of a path that consists of segments."""
        segment = "[A-Za-z0-9\\-_.~]+"
        return {
            "type": "string",
            "maxLength": self.MAX_LENGTH,
            "pattern": f"^{segment}(/{segment}){{0,{self.MAX_SEGMENTS - 1}}}$",
        }


@dataclass(frozen=True, slots=True)
class Number:
    """A member of an enumeration, given as its number. `meaning` explains the numbers to the caller."""

    choices: type[IntEnum]
    meaning: str

    def parse(self, field: str, value: object) -> IntEnum:
        """The member. Raises InvalidField, also for true and false, which Python takes for numbers."""
        if type(value) is not int or value not in list(self.choices):
            raise InvalidField(field, f"must be {self.meaning}")
        return self.choices(value)

    def schema(self) -> Schema:
        """JSON Schema of the allowed numbers."""
        return {"type": "integer", "enum": [member.value for member in self.choices]}


@dataclass(frozen=True, slots=True)
class Word:
    """A member of an enumeration, given as its text."""

    choices: type[StrEnum]

    def parse(self, field: str, value: object) -> StrEnum:
        """The member. Raises InvalidField."""
        try:
            return self.choices(value)  # type: ignore[arg-type]  # of another type it is no member
        except ValueError:
            words = ", ".join(member.value for member in self.choices)
            raise InvalidField(field, f"must be one of {words}") from None

    def schema(self) -> Schema:
        """JSON Schema of the allowed words."""
        return {"type": "string", "enum": [member.value for member in self.choices]}


class Flag:
    """A boolean: true or false."""

    def parse(self, field: str, value: object) -> bool:
        """The boolean. Raises InvalidField for anything else, also for 0, 1 and text."""
        if not isinstance(value, bool):
            raise InvalidField(field, "must be true or false")
        return value

    def schema(self) -> Schema:
        """JSON Schema of a boolean."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class JsonObject:
    """A JSON object of at most `max_depth` levels and `max_bytes` bytes (as compact JSON in UTF-8)."""

    max_bytes: int = 4096
    max_depth: int = 16

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The object, unchanged. Raises InvalidField."""
        self.check_depth(field, value)
        if not isinstance(value, dict):
            raise InvalidField(field, "must be a JSON object")
        self._check(field, value)
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > self.max_bytes:
            raise InvalidField(field, f"must have at most {self.max_bytes} bytes as JSON")
        return value

    def check_depth(self, field: str, value: object) -> None:
        """Raise InvalidField if the value has too many levels.

        Run this first: it can't overflow the stack.
        """
        level = [value]
        for _ in range(self.max_depth):
            level = [inner for outer in level for inner in _items(outer)]
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
        """JSON Schema of an object whose names do not start with $."""
        names = {"propertyNames": {"pattern": "^[^$\\u0000]*$"}, "maxProperties": 500}
        # Stated, since generators of clients take an object without properties for one that has none.
        return {"type": "object", "additionalProperties": True} | names


def parse_string(field: str, value: object) -> str:
    """The value, if it is text that can be written in UTF-8. Raises InvalidField."""
    if not isinstance(value, str):
        raise InvalidField(field, "must be a string")
    if not value.isascii() and SURROGATE.search(value):
        raise InvalidField(field, "must be valid Unicode, without lone surrogates")
    return value


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID of 8-4-4-4-12 hexadecimal digits."""
    return _UUID.fullmatch(text) is not None


def is_token(text: str) -> bool:
    """Whether the text has the form of 32 random bytes in base64url: a secret in an address or a cookie."""
    return _TOKEN.fullmatch(text) is not None


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_scalar(field: str, value: object) -> None:
    if isinstance(value, str) and SURROGATE.search(value):
        raise InvalidField(field, "must be valid Unicode, without lone surrogates")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InvalidField(field, "must not hold integers of more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidField(field, "must not hold numbers too large for a double")


def _is_web_address(url: str) -> bool:
    try:
        if plain := plainly_written_host(url):
            return _is_host(plain)
        parts = urlsplit(url)
        parts.port  # noqa: B018 - the property raises ValueError for what is no port
        return parts.scheme in {"http", "https"} and _is_host(parts.hostname or "")
    except ValueError:
        return False


def _is_host(host: str) -> bool:
    if is_ip_address(host):
        return True
    # Host names of web servers may have underscores, which link domains may not.
    return bool(normalize_host(host.replace("_", "x")))

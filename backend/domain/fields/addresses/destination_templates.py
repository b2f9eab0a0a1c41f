"""Addresses that visitors fill in: `{path}` is what follows a link's path, `{query.NAME}` is a parameter.

The host of an address never comes from a visitor: placeholders stand behind it, and what is filled in is
percent-encoded.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_plus, unquote_to_bytes

from backend.domain.errors import InvalidField, shown_name
from backend.domain.fields.pasted_addresses import pasted_address
from backend.domain.fields.rules import Schema, WebAddress, parse_string

# The longest address that is made, and the longest value that is filled in, percent-encoded, in bytes.
LONGEST_ADDRESS = 8192
LONGEST_VALUE = 2048
MOST_PLACEHOLDERS = 10
PATH = "path"
_QUERY = "query."
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_NAME = re.compile(r"query\.[A-Za-z0-9._~-]{1,100}")
# Only redirects set parameters with such names (`web_address`).
_OWN_PREFIX = f"{_QUERY}cl_"
_SCHEME_AND_HOST = re.compile(r"https?://[^/?#\\{}]+", re.IGNORECASE)
# What may follow a link's path: segments as RFC 3986 has them (`pchar`), none of them empty but the last.
_SEGMENT = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_REST = re.compile(rf"{_SEGMENT}+(?:/{_SEGMENT}+)*/?|")
# Percent-encoded: what servers might take for the end of a segment or of a header, and no character at all.
_MISLEADING = re.compile(r"%(?:2f|5c|7f|[01][0-9a-f])", re.IGNORECASE)


class DestinationAddress:
    """A web address as `WebAddress` takes it, in which `{path}` and `{query.NAME}` may stand."""

    _PLAIN = WebAddress()

    def parse(self, field: str, value: object) -> str:
        """The address as it was written, without blanks around it (`pasted_address`). Raises InvalidField."""
        url = parse_string(field, value)
        if "{" not in url and "}" not in url:
            return self._PLAIN.parse(field, url)
        url = pasted_address(field, url)
        names = _PLACEHOLDER.findall(url)
        for name in names:
            _check_name(field, name)
        if len(names) > MOST_PLACEHOLDERS:
            raise InvalidField(field, f"must have at most {MOST_PLACEHOLDERS} placeholders such as {{path}}")
        if len(url.encode()) > self._PLAIN.max_bytes:
            raise InvalidField(field, f"must have at most {self._PLAIN.max_bytes} bytes")
        fixed = _SCHEME_AND_HOST.match(url)
        if names and not (fixed and url[fixed.end() :].startswith(("/", "?", "#"))):
            raise InvalidField(field, "must have placeholders such as {path} only behind its host")
        self._PLAIN.parse(field, _PLACEHOLDER.sub("x", url))
        return url

    def schema(self) -> Schema:
        """JSON Schema of a string that starts with http:// or https://."""
        # Not "iri": placeholders are no part of one.
        return {name: part for name, part in self._PLAIN.schema().items() if name != "format"}


def _check_name(field: str, name: str) -> None:
    if name != PATH and not _NAME.fullmatch(name):
        raise InvalidField(
            field,
            f"must not contain {{{shown_name(name)}}}: possible are {{path}} and {{query.NAME}}; "
            "%7B and %7D are braces",
        )
    if name.startswith(_OWN_PREFIX):
        raise InvalidField(field, f"must not contain {{{name}}}: visitors can't set this parameter")


def has_placeholders(url: str) -> bool:
    """Whether a visitor fills in a part of the address. No other address contains a brace."""
    return "{" in url


def takes_path(url: str) -> bool:
    """Whether `{path}` stands in the address."""
    return "{path}" in url


def parameters_in(url: str) -> set[str]:
    """The names of the query parameters that are filled in."""
    names = _PLACEHOLDER.findall(url) if "{" in url else ()
    return {name.removeprefix(_QUERY) for name in names if name != PATH}


def varies_in_path(url: str) -> bool:
    """Whether a visitor fills in a part of the path of the address."""
    return "{" in re.split("[?#]", url, maxsplit=1)[0]


def sample_of(url: str, word: str) -> str:
    """The address with this word in each place that is filled in."""
    return _PLACEHOLDER.sub(word, url) if "{" in url else url


def is_rest(text: str) -> bool:
    """Whether this can follow the path of a link, percent-encoded as it was sent, without the first slash.

    No segment may be empty, but for the last, or be `.` or `..`, also percent-encoded. An encoded slash,
    backslash or control character is refused.
    """
    if not _REST.fullmatch(text) or _MISLEADING.search(text):
        return False
    return not any(map(_is_dots, text.split("/")))


def fill_in(url: str, rest: str, query: str, *, forwards_path: bool) -> str | None:
    """The address for a visitor, percent-encoded where the visitor fills it in.

    `rest` is what followed the link's path (`is_rest`), "" for nothing; `query` is the query string as it was
    sent. With `forwards_path`, a rest that has no place in the address is appended to its path. A parameter
    that was not sent is the empty text; of repeated ones, the first counts. None if the address would be too
    long, or if a segment of its path would be `.` or `..`.
    """
    values = _values(query, parameters_in(url)) if "{" in url else {}
    if any(len(value) > LONGEST_VALUE for value in values.values()):
        return None
    fixed = _SCHEME_AND_HOST.match(url)
    begin = fixed.end() if fixed else 0
    path, others = _split(url[begin:])
    filled = _filled(path, values, rest)
    if forwards_path and rest and not takes_path(url):
        filled = f"{filled.removesuffix('/')}/{rest}"
    if "{" in path and any(map(_is_dots, filled.split("/"))):
        return None
    whole_rest = quote(unquote_to_bytes(rest), safe="")
    address = f"{url[:begin]}{filled}{_filled(others, values, whole_rest)}"
    return address if len(address.encode()) <= LONGEST_ADDRESS else None


def _split(text: str) -> tuple[str, str]:
    """What is behind a host as its path, and its query and fragment."""
    path = re.split("[?#]", text, maxsplit=1)[0]
    return path, text[len(path) :]


def _filled(text: str, values: dict[str, str], rest: str) -> str:
    if "{" not in text:
        return text
    return _PLACEHOLDER.sub(
        lambda match: rest if match[1] == PATH else values[match[1].removeprefix(_QUERY)], text
    )


def _values(query: str, names: set[str]) -> dict[str, str]:
    """The values of these parameters, percent-encoded so that they are no more than text anywhere."""
    values = dict.fromkeys(names, "")
    for parameter in reversed(query.split("&")):
        name, _, value = parameter.partition("=")
        if (decoded := unquote_plus(name)) in values:
            values[decoded] = quote(unquote_to_bytes(value.replace("+", " ")), safe="")
    return values


def _is_dots(segment: str) -> bool:
    return segment.lower().replace("%2e", ".") in {".", ".."}

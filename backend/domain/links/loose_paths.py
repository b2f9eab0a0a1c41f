"""What a visitor asks for who means a link's path: as texts, mail programs, QR codes and people change it.

It is asked for only where no link has the path itself, so that no two links are ever taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits
from urllib.parse import quote, unquote, urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import LinkPath
from backend.domain.web.host_names import normalize_host
from backend.domain.web.short_urls import LONGEST_PATH

_TIMES_ENCODED = 3  # a program that encodes what another one has encoded is usual, a third one is not
_ENCODED = rf"%(?:25){{0,{_TIMES_ENCODED - 1}}}"
# What begins a query or a fragment where a program has encoded it once or more, or has left out its `?`; and
# what behind a path begins the rest of a tag, of a link in Markdown or Slack, or of a quoted-printable text.
_END = re.compile(
    rf"""(?P<query>[&;?#]|{_ENCODED}(?:3F|26|23|3B))
    |(?<=..)(?:["<|]|{_ENCODED}(?:22|3C|7C)|\]\(|{_ENCODED}5D(?:\(|{_ENCODED}28)|=[0-9A-F]{{2}})""",
    re.IGNORECASE | re.VERBOSE,
)
_FRAGMENT = re.compile(rf"#|{_ENCODED}23", re.IGNORECASE)
# Characters that nobody sees: of no width, those that change the direction of writing, and the ends of lines
# and tabs, which browsers take out of addresses too.
_INVISIBLE = re.compile(
    r"[\t\n\r\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
# What is left without what stands around an address in a text; a path has dots, but rarely ends with one.
# A `+` stays, so that no link is found: it asks where a link leads, and must not lead there.
# Each reads a path once, however long: what searches for an end may begin again at each character.
_INSIDE = re.compile(r"[A-Za-z0-9._~+-](?:.*[A-Za-z0-9._~+-])?", re.DOTALL)
_INSIDE_BUT_DOTS = re.compile(r"[A-Za-z0-9._~+-](?:.*[A-Za-z0-9_~+-])?", re.DOTALL)
# Encoded slashes and control characters are no part of an address that anybody has written.
_HARMFUL = re.compile(
    r"%(?:25)*(?:2F|5C|7F|0[0-8BCEF]|1[0-9A-F])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", re.IGNORECASE
)
_SLASHES = re.compile(r"/{2,}")
# As texts write a hyphen, at which a line may end or may not.
_HYPHENS = str.maketrans("\u2010\u2011", "--")
# What emphasizes a text may stand at the end of a path, too, as in _https://go.test/spring_.
_LETTERS = frozenset(ascii_letters + digits + "+")
# A parameter's name, and no rest of HTML such as `quot; target`.
_NAMED = re.compile(r"[\w.~%$\[\]:-]+=.*", re.DOTALL)
_QUERY_CHARACTERS = "%:/?[]@!$&'()*+,;=-._~"
_PATH = LinkPath()


@dataclass(frozen=True, slots=True)
class LoosePath:
    """The paths of links that a request may mean, the likeliest first, and the query that its path hides."""

    paths: tuple[str, ...] = ()
    query: str = ""

    def pick(self, found: Collection[str], *, ignores_case: bool) -> str | None:
        """The path that is meant among those that links have; None if it is none, or may be several.

        With `ignores_case`, a path in other case is meant where it is the only one.
        """
        if exact := next((path for path in self.paths if path in found), None):
            return exact
        for path in self.paths if ignores_case else ():
            if alike := [other for other in found if other.lower() == path.lower()]:
                return alike[0] if len(alike) == 1 else None
        return None

    def with_query(self, query: str) -> str:
        """The query string of a visit, whose path hides this one."""
        return "&".join(filter(None, (self.query, query)))


_NONE = LoosePath()


def loose_path(raw_path: str) -> LoosePath:
    """What a request for this path may mean. `raw_path` is as it was sent, or as a person wrote it."""
    if len(raw_path) > LONGEST_PATH:
        return _NONE
    end = _END.search(raw_path)
    path = _cleaned(raw_path[: end.start()] if end else raw_path)
    found = [match[0] for inside in (_INSIDE, _INSIDE_BUT_DOTS) if (match := inside.search(path))]
    possible = [path for path in (*found, *map(_to_last_letter, found[:1])) if _is_link_path(path)]
    if not possible:
        return _NONE
    query = _query(end[0], raw_path[end.end() :]) if end and end["query"] else ""
    return LoosePath(tuple(dict.fromkeys(possible)), query)


def loose_place(short_url: str) -> tuple[str, LoosePath]:
    """The domain of a short URL and `loose_path` of its path; no path if no link can be there."""
    try:
        parts = urlsplit(short_url.strip())
        if parts.scheme in {"http", "https"} and parts.hostname:
            return normalize_host(parts.hostname), loose_path(parts.path)
    except ValueError:
        pass
    return "", _NONE


def _cleaned(text: str) -> str:
    """The path without percent-encoding and what nobody sees; "" if nobody has written such a path."""
    if _HARMFUL.search(text):
        return ""
    try:
        for _ in range(_TIMES_ENCODED):
            text = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return ""
    return "" if "%" in text else _SLASHES.sub("/", _INVISIBLE.sub("", text.translate(_HYPHENS)))


def _to_last_letter(path: str) -> str:
    """The path without markup at its end; whole if its last segment has nothing else."""
    length = next((place for place in range(len(path), 0, -1) if path[place - 1] in _LETTERS), 0)
    return path if "/" in path[length:] else path[:length]


def _is_link_path(path: str) -> bool:
    try:
        return bool(_PATH.parse("path", path))
    except InvalidField:
        return False


def _query(end: str, rest: str) -> str:
    """The query behind this end of the path, as it would have been sent.

    Behind `&`, only parameters with a value are taken: `&gt;` and others are characters of HTML.
    """
    rest = _FRAGMENT.split(rest, maxsplit=1)[0] if not _FRAGMENT.fullmatch(end) else ""
    if end.startswith("%"):
        for _ in range(1 + end.count("25")):
            rest = unquote(rest)
    rest = rest.lstrip("?")  # doubled
    if not end.upper().endswith(("?", "3F")):
        rest = "&".join(_parameters(rest))
    return quote(rest, safe=_QUERY_CHARACTERS)


def _parameters(text: str) -> Sequence[str]:
    parts = [part.removeprefix("amp;") for part in text.split("&")]
    return [part for part in parts if _NAMED.fullmatch(part)]

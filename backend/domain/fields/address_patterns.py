"""Patterns of web addresses: of hosts with all below them, and of parts of a host's paths.

`shop.com` means the host and everything below it, `*.shop.com` only what is below it, `shop.com/sale` the
path and what lies below it. In a path, `*` stands for any characters.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import unquote, urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string
from backend.domain.web.host_names import InvalidHostName, in_ascii, normalize_host
from backend.domain.web.short_urls import without_dot_segments

LONGEST_PATTERN = 500
_RULE = (
    "must be a host such as shop.com, *.shop.com for what is below it, or with a path such as shop.com/sale/*"
)
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_PATH = re.compile(r"/[A-Za-z0-9\-._~!$&'()+,;=:@%/*]*")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")


class AddressPattern:
    """A pattern as text, in the one form in which it is stored."""

    def parse(self, name: str, value: object) -> str:
        """The pattern without its scheme, its host as hosts are stored. Raises InvalidField."""
        text = parse_string(name, value).strip()
        if len(text) > LONGEST_PATTERN:
            raise InvalidField(name, f"must have at most {LONGEST_PATTERN} characters")
        host, slash, rest = _SCHEME.sub("", text, count=1).partition("/")
        path = f"{slash}{rest}".rstrip("/")
        if path and not _PATH.fullmatch(path):
            raise InvalidField(name, _RULE)
        return _host_of_pattern(name, host) + path

    def schema(self) -> Schema:
        """JSON Schema of a short text."""
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_PATTERN}


def _host_of_pattern(name: str, host: str) -> str:
    star, base = ("*.", host[2:]) if host.startswith("*.") else ("", host)
    try:
        if base.startswith("["):
            return f"[{IPv6Address(base.strip('[]'))}]"
        return star + plain_host(normalize_host(base))
    except (InvalidHostName, ValueError):
        raise InvalidField(name, _RULE) from None


@dataclass(frozen=True, slots=True)
class AddressPatterns:
    """A set of patterns. An address is looked up by its host, so the set may have millions of patterns."""

    # Hosts with all their paths are kept apart, without a list each: block lists have a million of them.
    _hosts: Set[str] = frozenset()
    _paths: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, patterns: Iterable[str], plain: Iterable[str] = ()) -> AddressPatterns:
        """These patterns in the form that AddressPattern gives them, and `plain` ones, which have no path."""
        hosts = set(plain)
        paths: defaultdict[str, list[str]] = defaultdict(list)
        for pattern in patterns:
            host, slash, path = pattern.partition("/")
            if slash:
                paths[host].append(slash + path)
            else:
                hosts.add(host)
        return cls(hosts, dict(paths))

    def __bool__(self) -> bool:
        return bool(self._hosts or self._paths)

    def __len__(self) -> int:
        return len(self._hosts) + sum(map(len, self._paths.values()))

    def find(self, url: str) -> str | None:
        """The pattern that this web address fits; None if there is none."""
        if not self:
            return None
        parts = urlsplit(url)
        path = ""
        for host in _hosts_that_mean(plain_host(parts.hostname or "")):
            if host in self._hosts:
                return host
            for path_pattern in self._paths.get(host, ()):
                path = path or without_dot_segments(unquote(parts.path))
                if _fits(path, path_pattern) or _fits(path, f"{path_pattern}/*"):
                    return host + path_pattern
        return None

    def path_on_host_of(self, url: str) -> str | None:
        """A pattern with a path on the host of this web address; None if there is none."""
        hosts = _hosts_that_mean(plain_host(urlsplit(url).hostname or "")) if self._paths else ()
        return next((host + paths[0] for host in hosts if (paths := self._paths.get(host))), None)


def _hosts_that_mean(host: str) -> Iterator[str]:
    """The hosts of patterns that a host fits: itself, those above it, and those with `*.` above it."""
    yield host
    while "." in host:
        host = host.partition(".")[2]
        yield host
        yield f"*.{host}"


def _fits(path: str, pattern: str) -> bool:
    """Whether the path fits the pattern, in which each `*` stands for any characters."""
    first, *others = unquote(pattern).split("*")
    if not others:
        return path == first
    *between, last = others
    if not path.startswith(first):
        return False
    at = len(first)
    for part in between:
        at = path.find(part, at) + len(part)
        if at < len(part):
            return False
    return len(path) - len(last) >= at and path.endswith(last)


def plain_host(host: str) -> str:
    """A host in one form for all ways to write it: lower case, punycode, an address in its usual digits."""
    try:
        name = in_ascii(host).lower().removesuffix(".")
    except InvalidHostName:
        return host.lower()
    if ":" in name:
        try:
            return f"[{IPv6Address(name.strip('[]'))}]"
        except ValueError:
            return name
    return _plain_address(name) or name


def _plain_address(host: str) -> str | None:
    """An IPv4 address as browsers read it: 0x7f.1 is 127.0.0.1 (URL Standard). None for a name."""
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *bytes_, rest = map(_number, parts)
        if any(byte > 255 for byte in bytes_) or rest >= 256 ** (4 - len(bytes_)):
            return None
        return str(IPv4Address(sum(byte << 8 * (3 - at) for at, byte in enumerate(bytes_)) + rest))
    except ValueError:
        return None


def _number(text: str) -> int:
    if text[:2] in {"0x", "0X"}:
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text.startswith("0") else int(text)

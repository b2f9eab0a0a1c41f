"""Patterns of web addresses: of hosts with all below them, and of parts of a host's paths.

`shop.com` means the host and everything below it, `*.shop.com` only what is below it, `shop.com/sale` the
path and what lies below it. In a path, `*` stands for any characters. Where a pattern names an origin, a
scheme stands for that scheme and its port, and `shop.com:8443` for that port alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import SplitResult, unquote, urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string
from backend.domain.web.host_names import InvalidHostName, in_ascii, normalize_host
from backend.domain.web.short_urls import without_dot_segments

LONGEST_PATTERN = 500
_RULE = (
    "must be a host such as shop.com, *.shop.com for what is below it, or with a path such as shop.com/sale/*"
)
_SCHEME = re.compile(r"(https?)://", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST_AND_PORT = re.compile(r"(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?")
_PATH = re.compile(r"/[A-Za-z0-9\-._~!$&'()+,;=:@%/*]*")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")


@dataclass(frozen=True, slots=True)
class AddressPattern:
    """A pattern as text, in the one form in which it is stored.

    With `names_origin`, a scheme and a port are part of it; otherwise it means all of them, whichever are
    written. With `scheme`, a pattern without one has this one.
    """

    names_origin: bool = False
    scheme: str = ""

    def parse(self, name: str, value: object) -> str:
        """The pattern with its host as hosts are stored. Raises InvalidField."""
        text = parse_string(name, value).strip()
        if len(text) > LONGEST_PATTERN:
            raise InvalidField(name, f"must have at most {LONGEST_PATTERN} characters")
        written = _SCHEME.match(text)
        scheme = written[1].lower() if written else self.scheme
        host, slash, rest = (text[written.end() :] if written else text).partition("/")
        path = f"{slash}{rest}".rstrip("/")
        if path and not _PATH.fullmatch(path):
            raise InvalidField(name, _RULE)
        if self.names_origin:
            return _origin_of_pattern(name, scheme, host) + path
        return _host_of_pattern(name, host) + path

    def schema(self) -> Schema:
        """JSON Schema of a short text."""
        return {"type": "string", "minLength": 1, "maxLength": LONGEST_PATTERN}


def _origin_of_pattern(name: str, scheme: str, host_and_port: str) -> str:
    """The host with the scheme, if there is one, and the port, if the scheme does not mean it."""
    split = _HOST_AND_PORT.fullmatch(host_and_port)
    port = int(split[2]) if split and split[2] else None
    if split is None or port not in {None, *range(1, 65_536)}:
        raise InvalidField(name, _RULE)
    host = _host_of_pattern(name, split[1])
    shown_port = "" if port is None or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    return f"{scheme}://{host}{shown_port}" if scheme else f"{host}{shown_port}"


def _host_of_pattern(name: str, host: str) -> str:
    star, base = ("*.", host[2:]) if host.startswith("*.") else ("", host)
    try:
        if base.startswith("["):
            return f"[{IPv6Address(base.strip('[]'))}]"
        return star + plain_host(normalize_host(base))
    except (InvalidHostName, ValueError):
        raise InvalidField(name, _RULE) from None


@dataclass(frozen=True, slots=True)
class _Part:
    """A pattern that means not all of a host: a part of its paths, its schemes or its ports."""

    pattern: str
    host: str
    scheme: str
    port: int | None
    path: str

    @classmethod
    def of(cls, pattern: str) -> _Part:
        """The part that a pattern means, in the form in which it is stored."""
        scheme, _, rest = pattern.rpartition("://")
        host_and_port, slash, path = rest.partition("/")
        split = _HOST_AND_PORT.fullmatch(host_and_port)
        assert split
        port = int(split[2]) if split[2] else _DEFAULT_PORTS.get(scheme)
        return cls(pattern, split[1], scheme, port, slash + path)

    def fits(self, scheme: str, port: int | None, path: str) -> bool:
        """Whether an address on the host with these is meant."""
        return (
            self.scheme in {"", scheme}
            and self.port in {None, port}
            and (not self.path or _fits(path, self.path) or _fits(path, f"{self.path}/*"))
        )


@dataclass(frozen=True, slots=True)
class AddressPatterns:
    """A set of patterns. An address is looked up by its host, so the set may have millions of patterns."""

    # Hosts as a whole are kept apart, without a list each: block lists have a million of them.
    _hosts: Set[str] = frozenset()
    _parts: Mapping[str, Sequence[_Part]] = field(default_factory=dict)

    @classmethod
    def of(cls, patterns: Iterable[str], plain: Iterable[str] = ()) -> AddressPatterns:
        """These patterns in the form that AddressPattern gives them, and `plain` ones, which are hosts."""
        hosts = set(plain)
        parts: defaultdict[str, list[_Part]] = defaultdict(list)
        for pattern in patterns:
            part = _Part.of(pattern)
            if part.host == pattern:
                hosts.add(pattern)
            else:
                parts[part.host].append(part)
        return cls(hosts, dict(parts))

    def __bool__(self) -> bool:
        return bool(self._hosts or self._parts)

    def __len__(self) -> int:
        return len(self._hosts) + sum(map(len, self._parts.values()))

    def find(self, url: str) -> str | None:
        """The pattern that this web address fits; None if there is none."""
        if not self:
            return None
        split = urlsplit(url)
        path, port = "", _port_of(split)
        for host in _hosts_that_mean(plain_host(split.hostname or "")):
            if host in self._hosts:
                return host
            for part in self._parts.get(host, ()):
                path = path or without_dot_segments(unquote(split.path))
                if part.fits(split.scheme, port, path):
                    return part.pattern
        return None

    def path_on_host_of(self, url: str) -> str | None:
        """A pattern with a path on the host of this web address; None if there is none."""
        hosts = _hosts_that_mean(plain_host(urlsplit(url).hostname or "")) if self._parts else ()
        parts = (part for host in hosts for part in self._parts.get(host, ()))
        return next((part.pattern for part in parts if part.path), None)


def _port_of(split: SplitResult) -> int | None:
    """The port to which an address leads; None if it has one that there is not."""
    try:
        return split.port or _DEFAULT_PORTS.get(split.scheme)
    except ValueError:
        return None


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

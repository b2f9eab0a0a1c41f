"""The beginnings of a requested path that may be the path of a link, which passes on what follows."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from backend.domain.fields.addresses.destination_templates import is_rest
from backend.domain.fields.rules import LinkPath
from backend.domain.web.host_names import normalize_host
from backend.domain.web.short_urls import LONGEST_PATH, link_path

# Beginnings of a path, each with the rest behind it, as it was sent.
Prefixes = Sequence[tuple[str, str]]


def path_prefixes(raw_path: bytes) -> Prefixes:
    """What may be a link's path in a request's raw path, with the rest behind it; the longest first.

    A link's path has few segments, so there are few of them however long the path is. There are none if
    nothing follows that a link may pass on (`is_rest`).
    """
    if len(raw_path) > LONGEST_PATH or not raw_path.isascii():
        return []
    segments = raw_path.decode("ascii").removeprefix("/").split("/")
    if len(segments) < 2 or not is_rest("/".join(segments[1:])):
        return []
    found: list[tuple[str, str]] = []
    for count in range(1, min(len(segments) - 1, LinkPath.MAX_SEGMENTS) + 1):
        path = link_path("/".join(segments[:count]).encode("ascii"))
        if not path:
            break
        found.append((path, "/".join(segments[count:])))
    return found[::-1]


def rest_below(prefixes: Prefixes, path: str) -> str:
    """What is behind this path of a link, which may be in another case; "" if nothing is."""
    rests = {prefix.lower(): rest for prefix, rest in prefixes}
    return rests.get(path.lower(), "")


def prefixes_in(short_url: str) -> tuple[str, Prefixes]:
    """The domain of a short URL and `path_prefixes` of its path; none if no link can be there."""
    try:
        parts = urlsplit(short_url.strip())
        if parts.scheme in {"http", "https"} and parts.hostname:
            return normalize_host(parts.hostname), path_prefixes(parts.path.encode())
    except ValueError:
        pass
    return "", []


def prefixes_of(path: str) -> list[str]:
    """The paths of links above a link's path: what is before each of its slashes."""
    segments = path.split("/")
    return ["/".join(segments[:count]) for count in range(1, len(segments))]

"""Short URLs: the text that names a link, and the domain and path it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.host_names import InvalidHostName, normalize_host

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_LONGEST_PATH = 2048  # bytes; a path has 512 characters at most, each of which may come percent-encoded


@dataclass(frozen=True, slots=True)
class ShortUrlForm:
    """How short URLs are written: `https://<domain>/<path>` (contract, "Create link").

    Where `localhost_port` is given, domains under .localhost get http and that port, so that a link made on a
    developer's machine opens there without TLS.
    """

    localhost_port: int | None = None

    def write(self, domain: str, path: str) -> str:
        """The short URL of a link."""
        if self.localhost_port and domain.endswith(".localhost"):
            return f"http://{domain}:{self.localhost_port}/{path}"
        return f"https://{domain}/{path}"


def parse_short_url(text: str) -> tuple[str, str] | None:
    """The (domain, path) of the link that a browser would ask for at this address, or None where there can be
    no such link.

    Scheme and port do not matter, since a link is named by its host and path alone; query and fragment are
    what a visitor adds and are left out.
    """
    try:
        parts = urlsplit(text.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        path = link_path(_without_dot_segments(parts.path).encode())
        return None if path is None else (normalize_host(parts.hostname), path)
    except (ValueError, InvalidHostName):
        return None


def link_path(raw_path: bytes) -> str | None:
    """The path of a link that a request's path names, or None where no link can have that path.

    Percent-encoded unreserved characters are the characters themselves (RFC 3986, 6.2.2.2); no link's path
    has any other percent-encoding, so an encoded slash is never a slash.
    """
    if len(raw_path) > _LONGEST_PATH or not raw_path.isascii():
        return None
    text = raw_path.decode("ascii").removeprefix("/")
    return text if "%" not in text else _decode_unreserved(text)


def _decode_unreserved(text: str) -> str | None:
    first, *rest = text.split("%")
    decoded = [first]
    for part in rest:
        try:
            character = chr(int(part[:2], 16))
        except ValueError:
            return None
        if character not in _UNRESERVED or len(part) < 2:
            return None
        decoded.append(character + part[2:])
    return "".join(decoded)


def _without_dot_segments(path: str) -> str:
    """The path that a browser sends, which goes up and down by itself, also where dots come percent-encoded
    (URL Standard, "path state")."""
    kept: list[str] = []
    *folders, last = path.removeprefix("/").split("/")
    for segment in folders:
        _go(kept, segment)
    if not _go(kept, last):
        kept.append("")
    return "/" + "/".join(kept)


def _go(kept: list[str], segment: str) -> bool:
    """Add a segment to the path, or go where dots point; whether it was added."""
    dots = segment.lower().replace("%2e", ".")
    if dots == ".." and kept:
        kept.pop()
    if dots not in {".", ".."}:
        kept.append(segment)
        return True
    return False

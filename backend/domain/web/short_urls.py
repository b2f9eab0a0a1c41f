"""Short URLs: how they are written, and which domain and path they name."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.web.host_names import InvalidHostName, normalize_host, plainly_written_host

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
LONGEST_PATH = 2048  # bytes; a path has 512 characters at most, each of which may come percent-encoded


@dataclass(frozen=True, slots=True)
class ShortUrlForm:
    """How short URLs are written: `https://<domain>/<path>` (contract, "Create link").

    If `localhost_port` is set, domains that end in .localhost get http and that port, so that links open on a
    developer's machine without TLS.
    """

    localhost_port: int | None = None

    def write(self, domain: str, path: str) -> str:
        """The short URL of a link."""
        if self.localhost_port and domain.endswith(".localhost"):
            return f"http://{domain}:{self.localhost_port}/{path}"
        return f"https://{domain}/{path}"


def parse_short_url(text: str) -> tuple[str, str] | None:
    """The (domain, path) of the link at this address; None if no link can be there.

    Scheme, port, query and fragment are ignored: host and path alone name a link.
    """
    try:
        parts = urlsplit(text.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        path = link_path(without_dot_segments(parts.path).encode())
        return None if path is None else (normalize_host(parts.hostname), path)
    except (ValueError, InvalidHostName):
        return None


def query_of(url: str) -> str:
    """The query string of a web address, as it is written; "" if it has none."""
    return url.partition("#")[0].partition("?")[2]


def host_of(url: str) -> str | None:
    """The host of a web address, in its normal form; None if no link domain can have it."""
    plain = plainly_written_host(url)
    if plain is None:
        place = parse_short_url(url)
        return place[0] if place else None
    try:
        return normalize_host(plain)
    except InvalidHostName:
        return None


def link_path(raw_path: bytes) -> str | None:
    """The link path in a request's raw path; None if no link can have that path.

    Percent-encoded unreserved characters (RFC 3986, 6.2.2.2) are decoded. Any other percent-encoding gives
    None, so an encoded slash is never a slash.
    """
    if len(raw_path) > LONGEST_PATH or not raw_path.isascii():
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


def without_dot_segments(path: str) -> str:
    """The path with `.` and `..` resolved as browsers do (URL Standard, "path state").

    The dots may be percent-encoded.
    """
    kept: list[str] = []
    *folders, last = path.removeprefix("/").split("/")
    for segment in folders:
        _go(kept, segment)
    if not _go(kept, last):
        kept.append("")
    return "/" + "/".join(kept)


def _go(kept: list[str], segment: str) -> bool:
    """Resolve one path segment: append it to `kept`, or follow `.` or `..`.

    Returns whether it was appended.
    """
    dots = segment.lower().replace("%2e", ".")
    if dots == ".." and kept:
        kept.pop()
    if dots not in {".", ".."}:
        kept.append(segment)
        return True
    return False

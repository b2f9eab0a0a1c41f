"""Short URLs: the text that names a link, and the domain and path it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.host_names import InvalidHostName, normalize_host


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
    """The (domain, path) that a complete short URL names, or None when the text is not one.

    Scheme and port do not matter, since a link is named by its host and path alone; query and fragment are
    what a visitor adds and are left out.
    """
    try:
        parts = urlsplit(text.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return None
        return normalize_host(parts.hostname), parts.path.removeprefix("/")
    except (ValueError, InvalidHostName):
        return None

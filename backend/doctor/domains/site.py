"""A link domain as a web site, to which the checks send requests."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from backend.domain.web.short_urls import ShortUrlForm
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.page_reader import WebAnswer, read_answer

HTTPS_PORT = 443


@dataclass(frozen=True, slots=True)
class Site:
    """A link domain. `address` is the start of its short URLs; requests are sent to `reached_at`."""

    domain: str
    address: str
    reached_at: str

    @property
    def is_local(self) -> bool:
        """Whether the domain is only for this machine (.localhost): browsers know it, DNS does not."""
        return self.address != self.reached_at


@dataclass(frozen=True, slots=True)
class SiteVisitor:
    """Sends requests to a site as visitors and phones do, through a network that says what is reached."""

    site: Site
    network: GuardedNetwork
    tls: ssl.SSLContext

    async def get(self, path: str, **headers: str) -> WebAnswer:
        """What the site answers at this path. Raises Unreadable."""
        host = self.site.address.partition("://")[2]
        url = f"{self.site.reached_at}/{path}"
        return await read_answer(self.network, url, {"Host": host, **headers}, self.tls)


def site_of(domain: str, localhost_port: int | None, port: int = HTTPS_PORT) -> Site:
    """The site of a domain, at this port of https.

    With `localhost_port`, domains under .localhost are on this machine (see ShortUrlForm).
    """
    address = ShortUrlForm(localhost_port).write(domain, "").removesuffix("/")
    if address.startswith("http://"):
        return Site(domain, address, f"http://127.0.0.1:{localhost_port}")
    address += "" if port == HTTPS_PORT else f":{port}"
    return Site(domain, address, address)

"""A link domain as it is asked from here."""

from __future__ import annotations

from dataclasses import dataclass

import httpx

from backend.domain.short_urls import ShortUrlForm


@dataclass(frozen=True, slots=True)
class Site:
    """`address` is what short URLs on the domain begin with; requests go to `reached_at`."""

    domain: str
    address: str
    reached_at: str

    @property
    def is_local(self) -> bool:
        """Whether it is a name for this machine only, which browsers know and DNS does not."""
        return self.address != self.reached_at

    async def get(self, client: httpx.AsyncClient, path: str, **headers: str) -> httpx.Response:
        """Ask for a path as a visitor of the domain does; raises httpx.HTTPError."""
        host = self.address.partition("://")[2]
        return await client.get(f"{self.reached_at}/{path}", headers={"Host": host, **headers})


def site_of(domain: str, localhost_port: int | None) -> Site:
    """The site of a domain; with a port, domains under .localhost are on this machine (ShortUrlForm)."""
    address = ShortUrlForm(localhost_port).write(domain, "").removesuffix("/")
    is_local = address.startswith("http://")
    return Site(domain, address, f"http://127.0.0.1:{localhost_port}" if is_local else address)

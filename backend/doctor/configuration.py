"""Checks the settings, and whether the service answers at its public address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

import httpx

from backend.doctor.disks import examine_folder, examine_owners
from backend.domain.finding import Area, Finding, Findings
from backend.domain.web.addresses import network_in
from backend.domain.web.host_names import is_ip_address
from backend.environment import unknown_variables
from backend.settings import Settings

_findings = Findings(Area.CONFIGURATION)
SECONDS = 10.0  # that an answer may take
# The public addresses, with the shortest prefix of networks among them that belong to somebody, such as to a
# content delivery network.
_PUBLIC: tuple[tuple[IPv4Network | IPv6Network, int], ...] = (
    (IPv4Network("0.0.0.0/0"), 8),
    (IPv6Network("2000::/3"), 16),
)


def examine_settings(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    """Findings on the settings that need no network."""
    for name in unknown_variables(environment):
        yield _findings.warning(
            name, "It is set, but there is no such setting.", "`waylink settings` lists them all."
        )
    yield from _examine_base_url(settings)
    yield examine_folder(settings.clicks_dir)
    yield from examine_owners(settings.data_dir)
    yield from _examine_unreadable(settings)
    yield from _examine_trusted(settings)
    if settings.country_header and not settings.trusted_proxies:
        yield _findings.warning(
            "WAYLINK_COUNTRY_HEADER",
            "The header is believed from no one, since no proxy is trusted.",
            "Set WAYLINK_TRUSTED_PROXIES to the addresses of the proxy that sends it.",
        )


async def examine_base_url(client: httpx.AsyncClient, settings: Settings) -> Finding:
    """Whether the service answers at its public address."""
    url = f"{settings.base_url}/healthz"
    try:
        answer = await client.get(url)
    except httpx.HTTPError as error:
        return _findings.error(
            settings.base_url,
            f"Nothing answers there ({type(error).__name__}: {error}).",
            "Start the service, or point DNS and proxy of WAYLINK_BASE_URL at it.",
        )
    if answer.status_code == 200 and answer.headers.get("Content-Type", "").startswith("application/json"):
        return _findings.ok(settings.base_url, "The service answers at its public address.")
    return _findings.error(
        settings.base_url,
        f"What answers there is not this service ({answer.status_code} for /healthz).",
        "Forward the host of WAYLINK_BASE_URL to the service, with its Host header, and without a redirect.",
    )


def _examine_base_url(settings: Settings) -> Iterator[Finding]:
    parts = urlsplit(settings.base_url)
    host = parts.hostname or ""
    if host == "localhost" or is_ip_address(host):
        yield _findings.info(
            "WAYLINK_BASE_URL",
            f"The API's public address is {settings.base_url}, which no one else can use.",
            "Set it to the address that sites and servers are to use, such as https://links.shop.com.",
        )
    elif parts.scheme != "https":
        yield _findings.warning(
            "WAYLINK_BASE_URL",
            "The API's public address is not https: keys travel in the clear, and https sites can't use it.",
            "Put a proxy with a certificate before the service, and set WAYLINK_BASE_URL to https://….",
        )


def _examine_trusted(settings: Settings) -> Iterator[Finding]:
    """Findings on networks in which anybody may be."""
    for text in settings.trusted_proxies:
        network = network_in(text)
        if any(public.overlaps(network) and network.prefixlen < widest for public, widest in _PUBLIC):
            yield _findings.warning(
                "WAYLINK_TRUSTED_PROXIES",
                f"{text} is trusted, in which anybody may be: who reaches the service's port tells it any "
                "address and country, and has the limits of as many visitors.",
                "Name only the addresses or networks of your proxies.",
            )


def _examine_unreadable(settings: Settings) -> Iterator[Finding]:
    """Findings on records of clicks that could not be read and were set aside."""
    folder = settings.unreadable_clicks_dir
    if files := [path for path in folder.glob("*") if path.is_file()]:
        yield _findings.warning(
            "clicks",
            f"{len(files)} files in {folder} hold records of clicks that can't be read, and are not counted.",
            f"Look whether the disk fails. What a newer version wrote, it reads: move such a file to "
            f"{settings.clicks_dir} under a new name.",
        )

"""The device cookie, renewed by header behind a first-party proxy (contract, SDK rules 10 and 11)."""

from __future__ import annotations

import asyncio
from functools import cache
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList
from quart import Response, request

from backend.domain.host_names import is_host_name, is_ip_address
from backend.domain.organizations import Organization

# Name, lifetime and attributes are the SDK's (decisions, "device cookie").
NAME = "cl_device_id"
# Set beside it, with the same value: the SDK then leaves both alone, since a script's touch shortens them.
KEPT = "cl_device_id_kept"
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow


async def renew_device_cookie(response: Response, organization: Organization, device_id: str) -> None:
    """Set the cookie again on this answer, if the organization wants that and the browser sent it along.

    A browser sends a cookie only where it belongs, so one that holds the batch's own device id proves that
    the request went to an address of the page's site; and the SDK writes it after consent only.
    """
    if not organization.device_cookie or device_id not in request.cookies.getlist(NAME):
        return
    origin = urlsplit(request.headers["Origin"])
    domain = await _domain(origin.hostname or "", organization.cookie_domain)
    for name in (NAME, KEPT):
        response.set_cookie(
            name,
            device_id,
            max_age=LIFETIME,
            domain=domain,
            path="/",
            secure=origin.scheme == "https",
            samesite="Lax",
        )


async def _domain(host: str, chosen: str | None) -> str | None:
    """The domain of the SDK's cookie on a page of this host; None stands for the host alone.

    It is what `init` was given as `cookieDomain`, else the widest that browsers accept.
    """
    if chosen and f".{host}".endswith(f".{chosen}"):
        return chosen
    if is_ip_address(host) or not is_host_name(host):  # a wildcard of origins lets hosts in that are no names
        return None
    suffixes = await asyncio.to_thread(_public_suffixes)  # reading the list takes a third of a second, once
    return suffixes.privatesuffix(host)


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()

"""Renews the SDK's device cookie for sites with a first-party proxy (contract, SDK rules 10 and 11)."""

from __future__ import annotations

import asyncio
from functools import cache
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList
from quart import Response, request

from backend.domain.host_names import is_host_name, is_ip_address
from backend.domain.ids import DeviceId
from backend.domain.organizations import Organization

# Name, lifetime and attributes are the SDK's (decisions, "device cookie").
NAME = "cl_device_id"
# Set beside it with the same value: the SDK then touches neither, since a script would shorten their life.
KEPT = "cl_device_id_kept"
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow


async def renew_device_cookie(response: Response, organization: Organization, device_id: DeviceId) -> None:
    """Set the device cookie again on this answer, if the organization wants that and the browser sent it.

    The cookie must hold the batch's own device id. Browsers send a cookie only to the site that it belongs
    to, so this proves that the request came to an address of the page's own site. The SDK sets the cookie
    only with consent.
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
    """The domain for the SDK's cookie on a page of this host; None means this host only.

    `chosen` is the `cookieDomain` that was passed to `init`. Without it, the widest domain that browsers
    accept is used.
    """
    if chosen and f".{host}".endswith(f".{chosen}"):
        return chosen
    if is_ip_address(host) or not is_host_name(host):  # possible with a wildcard
        return None
    suffixes = await asyncio.to_thread(_public_suffixes)  # reading the list takes a third of a second, once
    return suffixes.privatesuffix(host)


@cache
def _public_suffixes() -> PublicSuffixList:
    return PublicSuffixList()

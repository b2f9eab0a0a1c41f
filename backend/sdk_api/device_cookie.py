"""Renews the SDK's device cookie for sites with a first-party proxy (contract, SDK rules 10 and 11)."""

from __future__ import annotations

from urllib.parse import urlsplit

from werkzeug.http import dump_cookie
from werkzeug.sansio.http import parse_cookie

from backend.domain.accounts.organizations import Organization
from backend.domain.ids import DeviceId
from backend.domain.web.host_names import is_host_name, is_ip_address
from backend.web.public_suffixes import registrable_part

# Name, lifetime and attributes are the SDK's (decisions, "device cookie").
NAME = "cl_device_id"
# Set beside it with the same value: the SDK then touches neither, since a script would shorten their life.
KEPT = "cl_device_id_kept"
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow


async def renewed_device_cookie(
    organization: Organization, device_id: DeviceId, cookie_header: str, origin_header: str
) -> list[str]:
    """The Set-Cookie headers that renew the device cookie, if the organization wants that and the browser
    sent it.

    The cookie must hold the batch's own device id. Browsers send a cookie only to the site that it belongs
    to, so this proves that the request came to an address of the page's own site. The SDK sets the cookie
    only with consent.
    """
    if not organization.device_cookie or device_id not in parse_cookie(cookie_header).getlist(NAME):
        return []
    origin = urlsplit(origin_header)
    domain = await _domain(origin.hostname or "", organization.cookie_domain)
    return [
        dump_cookie(
            name,
            device_id,
            max_age=LIFETIME,
            domain=domain,
            path="/",
            secure=origin.scheme == "https",
            samesite="Lax",
        )
        for name in (NAME, KEPT)
    ]


async def _domain(host: str, chosen: str | None) -> str | None:
    """The domain for the SDK's cookie on a page of this host; None means this host only.

    `chosen` is the `cookieDomain` that was passed to `init`. Without it, the widest domain that browsers
    accept is used.
    """
    if chosen and f".{host}".endswith(f".{chosen}"):
        return chosen
    if is_ip_address(host) or not is_host_name(host):  # possible with a wildcard
        return None
    return await registrable_part(host)

"""Allowed Web Origins: which sites may send calls, and their CORS headers (contract, SDK rule 9)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from backend.concurrency.counted_log import CountedLog
from backend.domain.ids import OrgId
from backend.json_api.api_error import ApiError
from backend.json_api.call_limits import Sender
from backend.json_api.error_table import ErrorRow
from backend.sdk_api.metrics import REFUSED_BATCHES
from backend.sdk_api.service import SdkService
from backend.storage.accounts.origin_refusals import OriginRefusal, add_origin_refusal
from backend.storage.driver.mongo import StorageError

ORIGIN_REFUSED = ErrorRow(
    403, 403, "Origin not allowed", "The request's Origin is not an Allowed Web Origin", "ORIGIN_NOT_ALLOWED"
)
ALLOW_ORIGIN = "Access-Control-Allow-Origin"
# What else a page may read of an answer that it may read.
EXPOSED = ("Access-Control-Expose-Headers", "Retry-After")
# Seconds; the longest that Chromium remembers a preflight.
PREFLIGHT_LIFETIME = 7200
# No origin is longer: a scheme, a host name of 253 characters, a port.
_LONGEST_ORIGIN = 300
_log = CountedLog(logging.getLogger("waylink.sdk"))


@dataclass(slots=True)
class CallingSite:
    """The site that a request comes from, by its Origin headers, and who sent it."""

    service: SdkService
    sender: Sender
    origins: Sequence[str]
    is_allowed: bool = False  # for the organization of the request's key

    @property
    def origin(self) -> str | None:
        """The Origin header; None if it is missing or `null`, which sandboxed pages and files send."""
        if len(self.origins) != 1 or len(self.origins[0]) > _LONGEST_ORIGIN or "://" not in self.origins[0]:
            return None
        return self.origins[0]


def _why_refused(site: CallingSite) -> str:
    if site.origin:
        return "not an Allowed Web Origin"
    if site.origins == ["null"]:
        return "a page without an origin: in a sandboxed iframe, or a file"
    return "no Origin header"


async def require_allowed_origin(site: CallingSite, org_id: OrgId) -> None:
    """Raise ApiError unless the organization allows the request's origin.

    Its owner can see refused origins.
    """
    origin = site.origin
    if origin and await site.service.site_origins.get((origin, org_id)):
        site.is_allowed = True
        return
    resources = site.sender.resources
    shown = OriginRefusal(next(iter(site.origins), ""), _why_refused(site), resources.clock())
    await add_origin_refusal(resources.database, org_id, shown)
    raise ApiError(ORIGIN_REFUSED)


async def preflight_headers(site: CallingSite, *, is_private_network: bool) -> dict[str, str]:
    """The headers of the answer to a browser's preflight request, for an origin that any organization allows.

    A preflight contains no key, so the organization is not known yet. Raises ApiError for other origins.
    """
    origin = site.origin
    if origin is None or not await _is_some_site(site, origin):
        raise ApiError(ORIGIN_REFUSED)
    allowed = {
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": "Content-Type",
        "Access-Control-Max-Age": str(PREFLIGHT_LIFETIME),
    }
    return allowed | ({"Access-Control-Allow-Private-Network": "true"} if is_private_network else {})


async def reader_of(site: CallingSite, status: int) -> str | None:
    """The origin whose pages may read an answer of this status; None if no page may.

    Pages of an origin that some organization allows may read errors too, except the refusal of their origin.
    """
    if status >= 400:
        REFUSED_BATCHES.labels(status).inc()
    origin = site.origin
    if origin and status != ORIGIN_REFUSED.status and await _is_known(site, origin, status):
        return origin
    return None


async def _is_some_site(site: CallingSite, origin: str) -> bool:
    """Whether any organization allows the origin.

    Raises ApiError, without a query, if the address has asked for too many unknown ones.
    """
    origins = site.service.known_origins
    if site.is_allowed or origins.recall(origin):
        return await origins.get(origin)
    site.sender.count_without_key()
    try:
        is_known = await origins.get(origin)
    except StorageError:
        site.sender.give_back_without_key()
        raise
    if is_known:
        site.sender.give_back_without_key()
    return is_known


async def _is_known(site: CallingSite, origin: str, status: int) -> bool:
    # The database may be out of reach, and a refused request is not worth a query.
    if status >= 500 or status == 429:
        return bool(site.service.known_origins.recall(origin))
    try:
        return await _is_some_site(site, origin)
    except ApiError:
        return False
    except StorageError as error:
        # The page then sees a failed request, and tries again as it would after a 503.
        _log.warning(f"Origins can't be looked up: {type(error).__name__}")
        return False

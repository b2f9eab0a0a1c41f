"""Allowed Web Origins: which sites may send calls, and their CORS headers (contract, SDK rule 9)."""

from __future__ import annotations

import logging

from quart import Response, g, request

from backend.current import of_app, resources
from backend.domain.ids import OrgId
from backend.json_api.call_limits import count_without_key, give_back_without_key
from backend.json_api.error_table import ErrorRow
from backend.json_api.refusal import Refusal
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.metrics import REFUSALS
from backend.sdk_api.service import SdkService
from backend.storage.mongo import StorageError
from backend.storage.refusals import OriginRefusal, add_refusal

ORIGIN_REFUSED = ErrorRow(
    403, 403, "Origin not allowed", "The request's Origin is not an Allowed Web Origin", "ORIGIN_NOT_ALLOWED"
)
# Seconds; the longest that Chromium remembers a preflight.
PREFLIGHT_LIFETIME = 7200
# No origin is longer: a scheme, a host name of 253 characters, a port.
_LONGEST = 300
_log = logging.getLogger("waylink.sdk")


async def require_allowed_origin(org_id: OrgId) -> None:
    """Raise Refusal unless the organization allows the request's origin.

    Its owner can see refused origins.
    """
    origin = _origin()
    if origin and await of_app(SdkService).site_origins.get((origin, org_id)):
        g.origin_is_allowed = True
        return
    reason = "no Origin header" if origin is None else "not an Allowed Web Origin"
    shown = OriginRefusal(request.headers.get("Origin", ""), reason, resources().clock())
    await add_refusal(resources().database, org_id, shown)
    raise Refusal(ORIGIN_REFUSED)


@sdk.route("/batch", methods=["OPTIONS"])
async def preflight() -> Response:
    """Answer a browser's preflight request. Allowed for every origin that any organization allows.

    A preflight contains no key, so the organization is not known yet.
    """
    origin = _origin()
    if origin is None or not await _is_some_site(origin):
        raise Refusal(ORIGIN_REFUSED)
    response = Response(status=204)
    response.headers["Access-Control-Allow-Methods"] = "POST"
    response.headers["Access-Control-Allow-Headers"] = "Content-Type"
    response.headers["Access-Control-Max-Age"] = str(PREFLIGHT_LIFETIME)
    if request.headers.get("Access-Control-Request-Private-Network") == "true":
        response.headers["Access-Control-Allow-Private-Network"] = "true"
    return response


@sdk.after_request
async def allow_reading(response: Response) -> Response:
    """Let the page read the answer, errors included, if its origin is known.

    A refusal because of the origin stays unreadable.
    """
    response.vary.add("Origin")
    if response.status_code >= 400:
        REFUSALS.labels(response.status_code).inc()
    origin = _origin()
    if origin and response.status_code != ORIGIN_REFUSED.status and await _is_known(origin, response):
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    return response


async def _is_some_site(origin: str) -> bool:
    """Whether any organization allows the origin.

    Raises Refusal, without a query, if the address has asked for too many unknown ones.
    """
    origins = of_app(SdkService).known_origins
    if g.get("origin_is_allowed") or origins.recall(origin):
        return await origins.get(origin)
    count_without_key()
    try:
        is_known = await origins.get(origin)
    except StorageError:
        give_back_without_key()
        raise
    if is_known:
        give_back_without_key()
    return is_known


async def _is_known(origin: str, response: Response) -> bool:
    # The database may be out of reach, and a refused request is not worth a query.
    if response.status_code >= 500 or response.status_code == 429:
        return bool(of_app(SdkService).known_origins.recall(origin))
    try:
        return await _is_some_site(origin)
    except Refusal:
        return False
    except StorageError as error:
        # The page then sees a failed request, and tries again as it would after a 503.
        _log.warning("Origins can't be looked up: %s", type(error).__name__)
        return False


def _origin() -> str | None:
    """The Origin header; None if it is missing or `null`, which sandboxed pages and files send."""
    origins = request.headers.getlist("Origin")
    if len(origins) != 1 or len(origins[0]) > _LONGEST or "://" not in origins[0]:
        return None
    return origins[0]

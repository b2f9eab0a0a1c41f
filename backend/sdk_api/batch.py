"""POST {sdk_api_url}/batch: checks key, origin, envelope, then each call (decisions, "wire format").

Apps send batches with a mobile key. They come from no web page, so they have no origin.
"""

from __future__ import annotations

import contextlib
from typing import Any

from backend.domain.accounts.api_keys import ApiKey, KeyKind, kind_of
from backend.domain.errors import InvalidField
from backend.domain.visitors.batches import MOST_CALLS, Envelope, parse_envelope
from backend.domain.visitors.rejections import BATCH, Rejection
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.asgi_answer import AsgiAnswer, encoded, error_answer, json_answer
from backend.json_api.asgi_request import AsgiRequest, ClientGone, Scope
from backend.json_api.call_limits import Sender
from backend.json_api.error_table import ErrorRow
from backend.json_api.json_body import EXACT
from backend.sdk_api.device_cookie import renewed_device_cookie
from backend.sdk_api.ingest import ingest, store_rejections
from backend.sdk_api.origins import (
    ALLOW_ORIGIN,
    EXPOSED,
    CallingSite,
    preflight_headers,
    reader_of,
    require_allowed_origin,
)
from backend.sdk_api.service import SdkService
from backend.sdk_api.withdrawal import withdraw
from backend.storage.driver.lanes import owned_by

# text/plain is what a browser sends without a preflight.
MEDIA_TYPES = frozenset({"", "text/plain", "application/json"})
KEY_MISSING = ErrorRow(401, 130, error_table.UNAUTHORIZED, "'api_key' missing", "UNAUTHORIZED_ACCESS")
MEDIA_TYPE_WRONG = ErrorRow(
    415,
    415,
    "Unsupported Media Type",
    "Content-Type must be text/plain or application/json",
    "UNSUPPORTED_MEDIA_TYPE",
)
ENCODING_WRONG = ErrorRow(
    415, 415, "Unsupported Media Type", "Content-Encoding is not accepted", "UNSUPPORTED_CONTENT_ENCODING"
)
_ALLOW_ORIGIN, (_EXPOSED,) = ALLOW_ORIGIN.lower().encode(), encoded([EXPOSED])
_VARY = (b"vary", b"Origin")
_NO_CONTENT = (b"content-type", b"text/html; charset=utf-8")
_WRONG_METHOD = json_answer(
    error_table.METHOD_NOT_ALLOWED.body(),
    error_table.METHOD_NOT_ALLOWED.status,
    [(b"allow", b"OPTIONS, POST")],
)
_WRONG_METHOD.headers.append((b"vary", b"Accept"))


class BatchRoute:
    """The ASGI application of this one path: browsers send nothing else, mostly one call at a time.

    Quart takes several times as long for a request as checking a call.
    """

    PATH = "/serviceCore/sdk/v1/batch"

    def __init__(self, service: SdkService) -> None:
        self._service = service

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer one request."""
        request = AsgiRequest(scope, receive)
        if request.method not in {"POST", "OPTIONS"}:
            await _WRONG_METHOD.send(send)
            return
        with contextlib.suppress(ClientGone):
            await (await self._answer(request)).send(send)

    async def _answer(self, request: AsgiRequest) -> AsgiAnswer:
        resources = self._service.resources
        sender = Sender(resources, resources.proxies.visitor_network(request.scope))
        site = CallingSite(self._service, sender, request.headers(b"origin"))
        try:
            answer = await (self._receive if request.method == "POST" else self._preflight)(request, site)
        except ClientGone:
            raise
        except Exception as error:
            answer = error_answer(error)
        answer.headers.append(_VARY)
        if origin := await reader_of(site, answer.status):
            answer.headers += [(_ALLOW_ORIGIN, origin.encode()), _EXPOSED]
        return answer

    async def _preflight(self, request: AsgiRequest, site: CallingSite) -> AsgiAnswer:
        """Say that the site may send calls."""
        asks = request.header(b"access-control-request-private-network") == "true"
        allowed = await preflight_headers(site, is_private_network=asks)
        return AsgiAnswer(204, [_NO_CONTENT, *encoded(allowed.items())])

    async def _receive(self, request: AsgiRequest, site: CallingSite) -> AsgiAnswer:
        """Store the calls of a batch, each only once. The answer has a result for each call."""
        body = EXACT.read(await _read_body(request))
        key = await _authenticate(site.sender, body.get("api_key"))
        owned_by(key.org_id)
        site.sender.count_calls(key, _number_of_calls(body))
        if key.kind is KeyKind.WEB:
            await require_allowed_origin(site, key.org_id)
        envelope = await self._parse_envelope(key, body)
        organization = await self._service.organizations.get(key.org_id)
        if envelope.erase:
            return json_answer(await withdraw(self._service, organization, envelope))
        results = await ingest(self._service, organization, envelope)
        notes = {"notes": envelope.notes} if envelope.notes else {}
        answer = json_answer({"results": results} | notes)
        if organization.device_cookie and key.kind is KeyKind.WEB:
            sent = ";".join(request.headers(b"cookie"))
            cookies = await renewed_device_cookie(organization, envelope.device_id, sent, site.origin or "")
            answer.headers += [(b"set-cookie", cookie.encode()) for cookie in cookies]
        return answer

    async def _parse_envelope(self, key: ApiKey, body: dict[str, Any]) -> Envelope:
        """Parse the envelope. If that fails, the reason is stored for the organization's owner."""
        try:
            return parse_envelope(body, is_of_app=key.kind is KeyKind.MOBILE)
        except InvalidField as error:
            rejection = Rejection(BATCH, error.field, error.rule)
            now = self._service.resources.clock()
            await store_rejections(self._service, key.org_id, now, [rejection])
            raise


async def _read_body(request: AsgiRequest) -> bytes:
    # A compressed body could be a thousand times as large as what arrives.
    if request.header(b"content-encoding").lower() not in {"", "identity"}:
        raise ApiError(ENCODING_WRONG)
    if request.media_type not in MEDIA_TYPES:
        raise ApiError(MEDIA_TYPE_WRONG)
    return await request.read_bytes()


async def _authenticate(sender: Sender, text: Any) -> ApiKey:
    if not text or not isinstance(text, str):
        sender.count_without_key()
        raise ApiError(error_table.KEY_INVALID if text else KEY_MISSING)
    kind = KeyKind.MOBILE if kind_of(text) is KeyKind.MOBILE else KeyKind.WEB
    key = await sender.find_key(text, kind)
    if key is None:
        raise ApiError(error_table.KEY_INVALID)
    return key


def _number_of_calls(body: dict[str, Any]) -> int:
    """How many calls the body counts as for rate limits. The body has not been checked yet."""
    calls = body.get("calls")
    return min(len(calls), MOST_CALLS) if isinstance(calls, list) and calls else 1

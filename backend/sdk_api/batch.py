"""POST {sdk_api_url}/batch: checks key, origin, envelope, then each call (decisions, "wire format")."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from quart import Response, jsonify, request

from backend.concurrency.group_commit import NotStored
from backend.current import of_app, resources
from backend.domain.api_keys import ApiKey, KeyKind
from backend.domain.batches import MOST_CALLS, Envelope, parse_envelope
from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.domain.rejections import BATCH, Rejection
from backend.json_api import error_table
from backend.json_api.call_limits import count_calls, count_without_key, find_key
from backend.json_api.error_handlers import RETRY_AFTER, keep_out_of_caches
from backend.json_api.error_table import ErrorRow
from backend.json_api.json_body import parse_json_object, read_bytes
from backend.json_api.refusal import Refusal
from backend.sdk_api.blueprint import sdk
from backend.sdk_api.device_cookie import renew_device_cookie
from backend.sdk_api.ingest import ingest, remember_rejections
from backend.sdk_api.origins import require_allowed_origin
from backend.sdk_api.service import SdkService

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


@sdk.post("/batch")
async def receive_batch() -> Response:
    """Store the calls of a batch, each only once. The answer has a result for each call."""
    body = parse_json_object(await _read_body(), parse_float=_decimal)
    key = await _authenticate(body.get("api_key"))
    count_calls(key, _number_of_calls(body))
    await require_allowed_origin(key.org_id)
    try:
        envelope = await _parse_envelope(key.org_id, body)
        organization = await of_app(SdkService).organizations.get(key.org_id)
        results = await ingest(organization, envelope)
    except NotStored:
        refusal = Refusal(error_table.STORAGE_UNREACHABLE)
        raise refusal.with_headers({"Retry-After": str(RETRY_AFTER)}) from None
    notes = {"notes": envelope.notes} if envelope.notes else {}
    response = keep_out_of_caches(jsonify({"results": results} | notes))
    await renew_device_cookie(response, organization, envelope.device_id)
    return response


async def _parse_envelope(org_id: OrgId, body: dict[str, Any]) -> Envelope:
    """Parse the envelope. If that fails, the reason is stored for the organization's owner."""
    try:
        return parse_envelope(body)
    except InvalidField as error:
        rejection = Rejection(BATCH, error.field, error.rule)
        await remember_rejections(org_id, resources().clock(), [rejection])
        raise


async def _read_body() -> bytes:
    # A compressed body could be a thousand times as large as what arrives.
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refusal(ENCODING_WRONG)
    if request.mimetype not in MEDIA_TYPES:
        raise Refusal(MEDIA_TYPE_WRONG)
    return await read_bytes()


async def _authenticate(text: Any) -> ApiKey:
    if not text or not isinstance(text, str):
        count_without_key()
        raise Refusal(error_table.KEY_INVALID if text else KEY_MISSING)
    key = await find_key(text, KeyKind.WEB)
    if key is None:
        raise Refusal(error_table.KEY_INVALID)
    return key


def _number_of_calls(body: dict[str, Any]) -> int:
    """How many calls the body counts as for rate limits. The body has not been checked yet."""
    calls = body.get("calls")
    return min(len(calls), MOST_CALLS) if isinstance(calls, list) and calls else 1


def _decimal(text: str) -> Decimal:
    """A number of the body, exactly as it was written: money must not become a float."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError("an exponent beyond what decimals hold") from None

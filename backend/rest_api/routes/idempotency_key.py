"""The Idempotency-Key header: a request repeated with it is not carried out a second time."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.errors import InvalidField
from backend.json_api import error_table
from backend.json_api.api_error import ApiError, storage_unreachable
from backend.json_api.authentication import sent_key
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.parameters import header_parameter
from backend.storage.links.writing.idempotency import EarlierRequest, find_earlier_request, record_id
from backend.web.current import header, resources

HEADER = "Idempotency-Key"
_NAME = HEADER.lower().encode()
_PATTERN = r"[!-~]{1,255}"
IDEMPOTENCY_KEY = header_parameter(
    HEADER,
    {"type": "string", "pattern": f"^{_PATTERN}$"},
    "A name of yours for this request. Sent again with the same body within 24 hours, it gets the first "
    "answer and makes no second link.",
)


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The caller's key for one request, and a fingerprint of the request's operation and body."""

    text: str
    fingerprint: str

    @property
    def record_id(self) -> str:
        """The id of the record of what was carried out."""
        return record_id(caller().org_id, self.text)


def read_idempotency_key(operation: str, body: Mapping[str, object]) -> IdempotencyKey | None:
    """The Idempotency-Key of the current request; None without the header.

    `operation` names the operation, since the same body may be sent to several; "" is create-link. Raises
    InvalidField if the header is not a valid key.
    """
    text = header(_NAME)
    if text is None:
        return None
    if not re.fullmatch(_PATTERN, text):
        raise InvalidField(HEADER, "must be 1 to 255 visible ASCII characters")
    if caller().limited_to:  # no answer to another key, whose link may be out of reach
        text = f"{caller().id} {text}"
    return IdempotencyKey(text, _fingerprint(operation, body))


async def earlier_request(key: IdempotencyKey) -> EarlierRequest | None:
    """The earlier request with this key; None without one.

    Raises ApiError if it was another request.
    """
    earlier = await find_earlier_request(resources().database, caller().org_id, key.text)
    if earlier and earlier.fingerprint != key.fingerprint:
        raise ApiError(error_table.IDEMPOTENCY_KEY_REUSED)
    return earlier


async def concurrent_request(key: IdempotencyKey) -> EarlierRequest:
    """The request with this key that was carried out while this one was on its way (see KeyUsed).

    Raises ApiError if it was another request, or if it is not there any more.
    """
    earlier = await earlier_request(key)
    if earlier is None:  # it was stored on one member only, which failed
        raise storage_unreachable()
    return earlier


def stored_answer(earlier: EarlierRequest) -> tuple[int, str]:
    """Status and body of an earlier request's answer. Raises ApiError where the answer was not stored."""
    if earlier.answer is None:
        raise ApiError(error_table.IDEMPOTENCY_KEY_REUSED)
    return earlier.answer


def _fingerprint(operation: str, body: Mapping[str, object]) -> str:
    """A hash of the request, which is keyed with the caller's API key where the body has a password.

    The key is not stored. Otherwise a reader of the database could try passwords by this hash, in less time
    than by the passwords' own.
    """
    text = (operation + json.dumps(body, sort_keys=True)).encode()
    if b'"password"' not in text:
        return hashlib.sha256(text).hexdigest()
    return hmac.new(sent_key().encode(), text, "sha256").hexdigest()

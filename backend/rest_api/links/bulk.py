"""POST /links/bulk: up to 1,000 operations on links, with a result for each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    RequestError,
    collect_errors,
    raise_all,
    unknown_fields,
)
from backend.domain.fields.rules import Uuid
from backend.domain.ids import LinkId
from backend.domain.links.input import CHANGE_FIELDS, NEW_LINK_FIELDS, parse_changes, parse_new_link
from backend.domain.links.operations import (
    ArchiveLink,
    ChangeLink,
    CreateLink,
    DomainNotConfigured,
    Done,
    LinkGone,
    LinkOperation,
    LinkResult,
    UpsertLink,
    fields_of,
)
from backend.domain.web.short_urls import ShortUrlForm
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.rate_limit import weigh
from backend.rest_api.links.errors import api_error_of
from backend.rest_api.links.hashed_passwords import with_hash
from backend.rest_api.links.service import LinkService, link_request
from backend.rest_api.routes.idempotency_key import (
    IDEMPOTENCY_KEY,
    IdempotencyKey,
    concurrent_request,
    earlier_request,
    read_idempotency_key,
    stored_answer,
)
from backend.rest_api.routes.operation import Operation, reference
from backend.storage.driver.mongo import Document
from backend.storage.links.writing.idempotency import EarlierRequest, KeyUsed, answer_record
from backend.storage.links.writing.writes import Submission, write_links
from backend.web.current import of_app, resources

MOST_OPERATIONS = 1_000
# Operations that set a password: a hash takes several cores some ten milliseconds.
MOST_PASSWORDS = 50
MAX_BODY_BYTES = 2 * 1024 * 1024
# So many operations count as one request against the key's rate limit.
OPERATIONS_A_REQUEST = 25
OPS = ("create", "upsert", "update", "archive")
# After so many operations other requests are served for a moment.
_OPERATIONS_BETWEEN_PAUSES = 25
_FIELDS = frozenset({"op", "id", "link"})
_ID = Uuid()


@dataclass(frozen=True, slots=True)
class _Rejected:
    """An operation that was rejected before anything is written, and its result as JSON.

    A thousand results with fifty errors each take a third of a second, which no transaction waits for.
    """

    result: str


@Operation(
    method="POST",
    path="/links/bulk",
    summary="Create, change or archive up to 1,000 links",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    header_parameters=(IDEMPOTENCY_KEY,),
    body=reference("LinkOperations"),
    answer="BulkResults",
    errors=(
        error_table.QUERY_INVALID,
        error_table.FIELD_MISSING,
        error_table.IDEMPOTENCY_KEY_REUSED,
        error_table.TOO_MUCH_WAITS,
    ),
)
async def bulk_links() -> Response:
    """Carry out operations in order. One that is rejected does not stop the others."""
    body = await read_json_object(MAX_BODY_BYTES)
    operations = _read_operations(body)
    key = read_idempotency_key("POST /links/bulk", body)
    if key and (earlier := await earlier_request(key)):
        return _answer_again(earlier)
    parsed = [await _parse_in_turn(number, operation) for number, operation in enumerate(operations)]
    await weigh(_requests(parsed))
    text = await _carry_out(await _hashed(parsed), key)
    return _answer_again(await concurrent_request(key)) if text is None and key else _response(text or "")


async def _carry_out(parsed: Sequence[LinkOperation | _Rejected], key: IdempotencyKey | None) -> str | None:
    """The body of the answer; None if another request with the same key was carried out first."""
    now = resources().clock()
    requests = [link_request(operation) for operation in parsed if not isinstance(operation, _Rejected)]
    if not requests:  # nothing was written, so the key needs no record
        return _body(parsed, [])
    text = ""

    async def record(outcomes: Sequence[LinkResult]) -> Document | None:
        nonlocal text
        text = _body(parsed, outcomes)
        return answer_record(200, text, key.fingerprint, now) if key else None

    submission = Submission(requests, key.record_id if key else None, record)
    (outcomes,) = await write_links(
        resources().database, [submission], resources().destinations, of_app(LinkService).owners
    )
    return None if isinstance(outcomes[0].error, KeyUsed) else text


def _read_operations(body: Mapping[str, Any]) -> list[Any]:
    errors = unknown_fields(body, {"operations"})
    operations = body.get("operations")
    if operations is None:
        errors.append(MissingField("operations"))
    elif not isinstance(operations, list) or not 1 <= len(operations) <= MOST_OPERATIONS:
        errors.append(InvalidField("operations", f"must be a list of 1 to {MOST_OPERATIONS:,} operations"))
    raise_all(errors)
    return list(operations or [])


async def _parse_in_turn(number: int, operation: object) -> LinkOperation | _Rejected:
    if number % _OPERATIONS_BETWEEN_PAUSES == 0:
        await asyncio.sleep(0)
    try:
        return _parse_object(operation)
    except RequestError as error:
        return _rejected(error)


def _requests(parsed: Sequence[LinkOperation | _Rejected]) -> int:
    """As how many requests the operations count. One that sets a password, and so takes long, is one."""
    passwords = min(MOST_PASSWORDS, sum(map(_sets_password, parsed)))
    return passwords + ceil((len(parsed) - passwords) / OPERATIONS_A_REQUEST)


def _sets_password(operation: LinkOperation | _Rejected) -> bool:
    return not isinstance(operation, _Rejected) and fields_of(operation).get("password") is not None


async def _hashed(parsed: Sequence[LinkOperation | _Rejected]) -> list[LinkOperation | _Rejected]:
    """The operations with the hashes of passwords; those beyond MOST_PASSWORDS that set one are rejected."""
    hashed: list[LinkOperation | _Rejected] = []
    passwords = 0
    for operation in parsed:
        passwords += _sets_password(operation)
        if isinstance(operation, _Rejected):
            hashed.append(operation)
        elif _sets_password(operation) and passwords > MOST_PASSWORDS:
            rule = f"is set by more than {MOST_PASSWORDS} operations"
            hashed.append(_rejected(InvalidField("password", rule)))
        else:
            hashed.append(await _hash(operation))
    return hashed


async def _hash(operation: LinkOperation) -> LinkOperation | _Rejected:
    try:
        return await with_hash(operation)
    except (RequestError, DomainNotConfigured, LinkGone) as error:
        return _rejected(error)


def _parse_object(operation: object) -> LinkOperation:
    """An operation of the list. Raises MissingField or InvalidField, with the errors of all fields."""
    if not isinstance(operation, dict):
        raise InvalidField("operations", "must hold JSON objects")
    errors = unknown_fields(operation, _FIELDS, rule="is not a field of an operation")
    with collect_errors(errors):
        parsed = _parse_operation(operation)
    raise_all(errors)
    return parsed


def _parse_operation(operation: Mapping[str, Any]) -> LinkOperation:
    match operation.get("op"):
        case None:
            raise MissingField("op")
        case "create":
            return CreateLink(parse_new_link(_link(operation), NEW_LINK_FIELDS))
        case "upsert":
            fields = _link(operation)
            if (external_id := fields.get("external_id")) is None or external_id == "":
                raise MissingField("external_id")
            return UpsertLink(parse_new_link(fields, NEW_LINK_FIELDS))
        case "update":
            errors: list[FieldError] = []
            with collect_errors(errors):
                link_id = _link_id(operation)
            with collect_errors(errors):
                changes = parse_changes(_fields(operation), CHANGE_FIELDS)
            raise_all(errors)
            return ChangeLink(link_id, changes)
        case "archive":
            _check_absent(operation, "link")
            return ArchiveLink(_link_id(operation))
    raise InvalidField("op", f"must be one of {', '.join(OPS)}")


def _link(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    _check_absent(operation, "id")
    return _fields(operation)


def _fields(operation: Mapping[str, Any]) -> Mapping[str, Any]:
    link = operation.get("link")
    if link is None:
        raise MissingField("link")
    if not isinstance(link, dict):
        raise InvalidField("link", "must be a JSON object")
    return link


def _link_id(operation: Mapping[str, Any]) -> LinkId:
    if operation.get("id") is None:
        raise MissingField("id")
    return LinkId(_ID.parse("id", operation["id"]))


def _check_absent(operation: Mapping[str, Any], name: str) -> None:
    if operation.get(name) is not None:
        raise InvalidField(name, f"is not a field of the operation {operation['op']}")


def _rejected(error: Exception) -> _Rejected:
    outcome = LinkResult(Done.REJECTED, error=error)
    return _Rejected(json.dumps(_result(outcome, resources().short_url_form)))


def _body(parsed: Sequence[LinkOperation | _Rejected], outcomes: Sequence[LinkResult]) -> str:
    done, form = iter(outcomes), resources().short_url_form
    results = [
        operation.result if isinstance(operation, _Rejected) else json.dumps(_result(next(done), form))
        for operation in parsed
    ]
    return f'{{"results": [{", ".join(results)}]}}'


def _result(outcome: LinkResult, form: ShortUrlForm) -> dict[str, Any]:
    if outcome.error:
        api_error = api_error_of(outcome.error)
        return {"status": outcome.done, "error": api_error.body}
    link = outcome.require_link()
    return {"status": outcome.done, "id": link.id, "short_url": form.write(link.domain, link.path)}


def _answer_again(earlier: EarlierRequest) -> Response:
    _, text = stored_answer(earlier)
    return _response(text)


def _response(text: str) -> Response:
    return Response(text, content_type="application/json")

"""POST /links, and GET, PATCH and DELETE /links/{id}: single links with every field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from quart import Response

from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.link_reach import NoNewLinks
from backend.domain.ids import LinkId
from backend.domain.links.input import (
    CHANGE_FIELDS,
    NEW_LINK_FIELDS,
    parse_changes,
    parse_copy,
    parse_new_link,
)
from backend.domain.links.json_form import LinkDetails, WholeLinkJson, whole_link_json
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
    operation_for,
)
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.json_api.asgi_answer import AsgiAnswer, text_answer
from backend.json_api.asgi_request import AsgiRequest
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.create import address_of, location_of
from backend.rest_api.links.errors import api_error_of
from backend.rest_api.links.hashed_passwords import with_hash
from backend.rest_api.links.listing import whole_links_json
from backend.rest_api.links.reference import LINK_ID, own_link
from backend.rest_api.links.service import carry_out, link_of, link_request, submit
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.idempotency_key import (
    IDEMPOTENCY_KEY,
    IdempotencyKey,
    concurrent_request,
    earlier_request,
    read_idempotency_key,
    stored_answer,
)
from backend.rest_api.routes.operation import Operation, PlainOperation, reference
from backend.rest_api.routes.parameters import QueryParameter
from backend.rest_api.routes.query_flag import QueryFlag
from backend.rest_api.routes.query_string import query_error, refuse_parameters
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.purge import LinkHasClicks, LinkIsHeld, purge_link
from backend.storage.links.links import find_link_by_external_id
from backend.storage.links.lists.details import read_details
from backend.storage.links.tags import find_tags_of
from backend.storage.links.writing.idempotency import EarlierRequest, KeyUsed, answer_record
from backend.storage.links.writing.writes import Submission
from backend.web.current import resources

_ONE = "/links/<link:link_text>"
_CREATION_ERRORS = (
    error_table.DOMAIN_NOT_CONFIGURED,
    error_table.PATH_TAKEN,
    error_table.EXTERNAL_ID_TAKEN,
    error_table.IDEMPOTENCY_KEY_REUSED,
    error_table.KEY_LIMITED,
    error_table.TOO_MUCH_WAITS,
)
_DELETE_QUERY = {
    "purge": QueryParameter(
        QueryFlag(), "Delete the link for good, with its counts; its path is free again."
    ),
    "force": QueryParameter(QueryFlag(), "Purge it even if it has clicks."),
}


@dataclass(frozen=True, slots=True)
class WrittenLink:
    """The answer to a request that wrote a link: its status, and the link as JSON."""

    status: int
    text: str
    link_id: LinkId


@PlainOperation(
    method="POST",
    path="/links",
    summary="Create a link; with a known external_id, bring its link up to date",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    header_parameters=(IDEMPOTENCY_KEY,),
    body=reference("NewLink"),
    status=201,
    other_status=200,
    answer="WholeLink",
    errors=(error_table.QUERY_INVALID, error_table.FIELD_MISSING, *_CREATION_ERRORS),
)
async def post_link(request: AsgiRequest) -> AsgiAnswer:
    """Create a link. If there is a link with the same `external_id`, bring that up to date instead."""
    refuse_parameters(request.scope["query_string"])
    body = await request.read_json()
    operation = operation_for(parse_new_link(body, NEW_LINK_FIELDS))
    key = read_idempotency_key("POST /links", body)
    written = await _earlier_answer(key) or await _write_once(key, operation)
    return text_answer(written.text, written.status, location_of(written.link_id))


@Operation(
    method="POST",
    path=f"{_ONE}/duplicate",
    summary="Make a link like this one",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    header_parameters=(IDEMPOTENCY_KEY,),
    body=reference("LinkCopy"),
    status=201,
    answer="WholeLink",
    errors=(error_table.QUERY_INVALID, *_CREATION_ERRORS),
)
async def duplicate_link(link_id: LinkId) -> Response:
    """Make a copy of this link with the fields of the body. Without a path, one is generated."""
    body = await read_json_object()
    key = read_idempotency_key(f"POST /links/{link_id}/duplicate", body)
    # An earlier answer is repeated also where the link is gone by now.
    written = await _earlier_answer(key) or await _write_once(key, await _copy_of(link_id, body))
    headers = {"Location": address_of(written.link_id)}
    return Response(written.text, written.status, headers, content_type="application/json")


async def _copy_of(link_id: LinkId, body: dict[str, Any]) -> CreateLink:
    link = await own_link(link_id)
    return CreateLink(parse_copy(body, link.domain, NEW_LINK_FIELDS), copy_of=link_id)


async def _hashed(operation: LinkOperation) -> LinkOperation:
    try:
        return await with_hash(operation)
    except (DomainNotConfigured, LinkGone, NoNewLinks) as error:
        raise api_error_of(error) from None


async def _earlier_answer(key: IdempotencyKey | None) -> WrittenLink | None:
    """The answer to the same request before, by its key; None without one.

    Raises ApiError if the key was another request's.
    """
    earlier = await earlier_request(key) if key else None
    return _answer_again(earlier) if earlier else None


async def _write_once(key: IdempotencyKey | None, operation: LinkOperation) -> WrittenLink:
    """Carry out an operation; of all requests with its key, only the first one's."""
    request = link_request(await _hashed(operation))
    if key is None:
        return await _stored(await submit(Submission([request])))

    # Before the transaction, which others' writes wait for: figures may take long.
    before = await _details_before(operation)

    async def record(outcomes: Sequence[LinkResult]) -> Document | None:
        if outcomes[0].link is None:
            return None
        status, text = await _answer(outcomes[0], before)
        return answer_record(status, text, key.fingerprint, request.now)

    outcome = await submit(Submission([request], key.record_id, record))
    if not isinstance(outcome.error, KeyUsed):
        link_of(outcome)
    return _answer_again(await concurrent_request(key))


@Operation(
    method="GET",
    path=_ONE,
    summary="Get a link with every field",
    needs=(Permission.LINKS_READ,),
    holds_reach=True,
    path_parameter=LINK_ID,
    answer="WholeLink",
)
async def get_link(link_id: LinkId) -> WholeLinkJson:
    """The link with this id, also where it is archived."""
    return (await whole_links_json([await own_link(link_id)]))[0]


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change fields and state of a link",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    body=reference("LinkChanges"),
    answer="WholeLink",
    errors=(error_table.QUERY_INVALID, error_table.EXTERNAL_ID_TAKEN, error_table.TOO_MUCH_WAITS),
)
async def patch_link(link_id: LinkId) -> WholeLinkJson:
    """Change the fields that are in the body. If one of them is refused, nothing is changed."""
    change = ChangeLink(link_id, parse_changes(await read_json_object(), CHANGE_FIELDS))
    return (await whole_links_json([await carry_out(await _hashed(change))]))[0]


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Archive a link, or purge it",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    query=_DELETE_QUERY,
    status=204,
    errors=(error_table.LINK_HAS_CLICKS, error_table.LINK_IS_HELD),
)
async def delete_link(link_id: LinkId, query: dict[str, bool]) -> None:
    """Archive the link. With `purge`, delete it for good, with its counts."""
    if query.get("force") and not query.get("purge"):
        raise query_error("force", "is for purge=true")
    if query.get("purge"):
        await _purge(link_id, is_forced=query.get("force", False))
    else:
        await carry_out(ArchiveLink(link_id))


async def _purge(link_id: LinkId, *, is_forced: bool) -> None:
    await own_link(link_id)
    database, now = resources().database, resources().clock()
    try:
        analytics = None if is_forced else resources().analytics
        is_purged = await purge_link(database, analytics, link_id, caller().org_id, now)
    except LinkHasClicks:
        raise ApiError(error_table.LINK_HAS_CLICKS) from None
    except LinkIsHeld:
        raise ApiError(error_table.LINK_IS_HELD) from None
    if not is_purged:
        raise ApiError(error_table.LINK_NOT_FOUND)


def _answer_again(earlier: EarlierRequest) -> WrittenLink:
    status, text = stored_answer(earlier)
    return WrittenLink(status, text, LinkId(json.loads(text)["id"]))


async def _stored(outcome: LinkResult) -> WrittenLink:
    link = link_of(outcome)
    return WrittenLink(*await _answer(outcome), link.id)


async def _details_before(operation: LinkOperation) -> LinkDetails:
    """The details of the link that the operation brings up to date, if there is one already."""
    database, links = resources().database, []
    if isinstance(operation, UpsertLink):
        external_id = operation.new.fields["external_id"]
        link = await find_link_by_external_id(database, external_id, caller().org_id)
        links = [link] if link else []
    return await read_details(database, resources().analytics, links, resources().clock())


async def _answer(outcome: LinkResult, before: LinkDetails | None = None) -> tuple[int, str]:
    """Status and body: the link with every field, as it is now, or with the details from `before`."""
    link, database = outcome.require_link(), resources().database
    if before is None and outcome.done is not Done.CREATED:
        (link_json,) = await whole_links_json([link])
        return 200, json.dumps(link_json)
    details = replace(before or LinkDetails({}, {}, {}), tags=await find_tags_of(database, [link]))
    text = json.dumps(whole_link_json(link, details, resources().short_url_form, resources().clock()))
    return 201 if outcome.done is Done.CREATED else 200, text

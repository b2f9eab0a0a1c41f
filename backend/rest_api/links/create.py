"""POST /create-link (contract, "Create link")."""

from __future__ import annotations

from collections.abc import Sequence

from backend.domain.accounts.permissions import Permission
from backend.domain.ids import LinkId
from backend.domain.links.input import CREATE_FIELDS, CREATE_REQUIRED, parse_new_link
from backend.domain.links.operations import CreateLink, LinkResult
from backend.json_api import error_table
from backend.json_api.asgi_answer import AsgiAnswer, Headers, json_answer
from backend.json_api.asgi_request import AsgiRequest
from backend.rest_api.links.schemas import fields_schema
from backend.rest_api.links.service import link_of, link_request, submit
from backend.rest_api.routes.blueprint import API_ROOT
from backend.rest_api.routes.idempotency_key import (
    IDEMPOTENCY_KEY,
    concurrent_request,
    earlier_request,
    read_idempotency_key,
)
from backend.rest_api.routes.operation import PlainOperation
from backend.storage.driver.mongo import Document
from backend.storage.links.writing.idempotency import EarlierRequest, KeyUsed, link_record
from backend.storage.links.writing.writes import Submission
from backend.web.current import resources


@PlainOperation(
    method="POST",
    path="/create-link",
    summary="Create a link",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    header_parameters=(IDEMPOTENCY_KEY,),
    body=fields_schema(CREATE_FIELDS, CREATE_REQUIRED),
    status=201,
    answer="Created",
    errors=(
        error_table.FIELD_MISSING,
        error_table.DOMAIN_NOT_CONFIGURED,
        error_table.PATH_TAKEN,
        error_table.IDEMPOTENCY_KEY_REUSED,
        error_table.KEY_LIMITED,
    ),
    invalid_key=error_table.KEY_INVALID_FOR_CREATE,
    is_to_the_letter=True,
)
async def create_link(request: AsgiRequest) -> AsgiAnswer:
    """Create a link. Without `selected_path`, its path is generated and unique on the domain."""
    body = await request.read_json()
    creation = link_request(CreateLink(parse_new_link(body)))
    key = read_idempotency_key("", body)
    if key is None:
        link = link_of(await submit(Submission([creation])))
        return _created(link.domain, link.path, link.id)
    if earlier := await earlier_request(key):
        return _answer_again(earlier)

    async def record(outcomes: Sequence[LinkResult]) -> Document | None:
        link = outcomes[0].link
        return link_record(link, key.fingerprint, creation.now) if link else None

    outcome = await submit(Submission([creation], key.record_id, record))
    if isinstance(outcome.error, KeyUsed):
        return _answer_again(await concurrent_request(key))
    link = link_of(outcome)
    return _created(link.domain, link.path, link.id)


def _answer_again(earlier: EarlierRequest) -> AsgiAnswer:
    return _created(earlier.domain, earlier.path, earlier.link_id)


def _created(domain: str, path: str, link_id: LinkId) -> AsgiAnswer:
    answer = {
        "status": "success",
        "message": "Link created successfully",
        "short_url": resources().short_url_form.write(domain, path),
    }
    return json_answer(answer, 201, location_of(link_id))


def location_of(link_id: LinkId) -> Headers:
    """The Location header of a new link."""
    return [(b"location", address_of(link_id).encode())]


def address_of(link_id: LinkId) -> str:
    """The address under which the link can be read."""
    return f"{resources().settings.base_url}{API_ROOT}/links/{link_id}"

"""POST /create-link (contract, "Create link")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quart import Response, jsonify

from backend.current import resources
from backend.domain.ids import LinkId
from backend.domain.link_input import parse_new_link
from backend.domain.link_operations import CreateLink, LinkResult
from backend.json_api.json_body import read_json_object
from backend.rest_api.blueprint import API_ROOT, rest
from backend.rest_api.idempotency_key import earlier_request, faster_request, read_idempotency_key
from backend.rest_api.link_service import link_of, requested, submit
from backend.storage.idempotency import EarlierRequest, KeyUsed, link_record
from backend.storage.link_writes import Submission
from backend.storage.mongo import Document


@rest.post("/create-link")
async def create_link() -> Response:
    """Create a link. Without `selected_path`, its path is generated and unique on the domain."""
    body = await read_json_object()
    request = requested(CreateLink(parse_new_link(body)))
    key = read_idempotency_key("", body)
    if key is None:
        link = link_of(await submit(Submission([request])))
        return _created(link.domain, link.path, link.id)
    if earlier := await earlier_request(key):
        return _repeated(earlier)

    async def record(outcomes: Sequence[LinkResult]) -> Document | None:
        made = outcomes[0].link
        return link_record(made, key.fingerprint, request.now) if made else None

    outcome = await submit(Submission([request], key.record_id, record))
    if isinstance(outcome.error, KeyUsed):
        return _repeated(await faster_request(key))
    link = link_of(outcome)
    return _created(link.domain, link.path, link.id)


def _repeated(earlier: EarlierRequest) -> Response:
    return _created(earlier.domain, earlier.path, earlier.link_id)


def _created(domain: str, path: str, link_id: LinkId | None) -> Response:
    answer: dict[str, Any] = {
        "status": "success",
        "message": "Link created successfully",
        "short_url": resources().short_url_form.write(domain, path),
    }
    response = jsonify(answer)
    response.status_code = 201
    if link_id:
        response.headers["Location"] = address_of(link_id)
    return response


def address_of(link_id: LinkId) -> str:
    """The address under which the link can be read."""
    return f"{resources().settings.base_url}{API_ROOT}/links/{link_id}"

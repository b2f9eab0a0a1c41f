"""POST /create-link (contract, "Create link")."""

from __future__ import annotations

from typing import Any

from quart import Response, jsonify

from backend.current import resources
from backend.domain.link_input import NewLink, parse_new_link
from backend.domain.links import CreatedBy, Link
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.refusal import Refusal, storage_unreachable
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.idempotency_key import IdempotencyKey, read_idempotency_key
from backend.storage.idempotency import KeyUsed, find_earlier_request, insert_link_once
from backend.storage.links import PathTaken, insert_link
from backend.storage.new_links import DomainNotConfigured, store_new_link


@rest.post("/create-link")
async def create_link() -> Response:
    """Create a link. Without `selected_path`, its path is generated and unique on the domain."""
    body = await read_json_object()
    new = parse_new_link(body)
    key = read_idempotency_key(body)
    if key and (earlier := await _earlier_answer(key)):
        return earlier
    try:
        link = await _store(new, key)
    except DomainNotConfigured:
        raise Refusal(error_table.DOMAIN_NOT_CONFIGURED) from None
    except PathTaken:
        raise Refusal(error_table.PATH_TAKEN) from None
    except KeyUsed:
        return await _answer_of_the_one_that_was_faster(key)
    return _created(link.domain, link.path)


async def _store(new: NewLink, key: IdempotencyKey | None) -> Link:
    database, now = resources().database, resources().clock()

    async def insert(link: Link) -> None:
        if key:
            await insert_link_once(database, link, key.text, key.fingerprint, now)
        else:
            await insert_link(database, link)

    return await store_new_link(
        database, new, org_id=caller().org_id, created_by=CreatedBy.REST, now=now, insert=insert
    )


async def _earlier_answer(key: IdempotencyKey) -> Response | None:
    earlier = await find_earlier_request(resources().database, caller().org_id, key.text)
    if earlier is None:
        return None
    if earlier.fingerprint != key.fingerprint:
        raise Refusal(error_table.IDEMPOTENCY_KEY_REUSED)
    return _created(earlier.domain, earlier.path)


async def _answer_of_the_one_that_was_faster(key: IdempotencyKey | None) -> Response:
    answer = await _earlier_answer(key) if key else None
    if answer is None:  # it was stored on one member only, which failed
        raise storage_unreachable()
    return answer


def _created(domain: str, path: str) -> Response:
    answer: dict[str, Any] = {
        "status": "success",
        "message": "Link created successfully",
        "short_url": resources().short_url_form.write(domain, path),
    }
    response = jsonify(answer)
    response.status_code = 201
    return response

"""POST /create-link (contract, "Create link")."""

from __future__ import annotations

import secrets
import uuid
from typing import Any

from quart import Response, jsonify

from backend.current import resources
from backend.domain.errors import InvalidField
from backend.domain.link_input import GENERATED_PATH_LENGTH, PATH_ALPHABET, NewLink, parse_new_link
from backend.domain.links import CreatedBy, Link
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.refusal import Refusal
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.idempotency_key import IdempotencyKey, read_idempotency_key
from backend.storage.domains import is_domain_of
from backend.storage.idempotency import KeyUsed, find_earlier_request, insert_link_once
from backend.storage.links import PathTaken, insert_link, looping_field

# 55^6 paths: with ten million links on a domain, one try in 2,700 meets a path that is taken.
_GENERATED_TRIES = 10


@rest.post("/create-link")
async def create_link() -> Response:
    """Make a link; its generated path, where none was selected, is unique on the domain."""
    body = await read_json_object()
    new = parse_new_link(body)
    key = read_idempotency_key(body)
    if key and (earlier := await _earlier_answer(key)):
        return earlier
    await _check(new)
    try:
        link = await _store(new, key)
    except KeyUsed:
        return await _answer_of_the_one_that_was_faster(key)
    return _created(link.domain, link.path)


async def _check(new: NewLink) -> None:
    database = resources().database
    if not await is_domain_of(database, new.domain, caller().org_id):
        raise Refusal(error_table.DOMAIN_NOT_CONFIGURED)
    if new.selected_path and (
        name := await looping_field(database, new.fields, new.domain, new.selected_path)
    ):
        raise InvalidField(name, "must not lead back to the link's own short URL")


async def _store(new: NewLink, key: IdempotencyKey | None) -> Link:
    if new.selected_path:
        try:
            return await _insert(new, new.selected_path, key)
        except PathTaken:
            raise Refusal(error_table.PATH_TAKEN) from None
    for _ in range(_GENERATED_TRIES):
        try:
            return await _insert(new, _generated_path(), key)
        except PathTaken:
            continue
    raise RuntimeError("no generated path was free")


async def _insert(new: NewLink, path: str, key: IdempotencyKey | None) -> Link:
    now = resources().clock()
    link = new.to_link(
        path, link_id=str(uuid.uuid4()), org_id=caller().org_id, created_by=CreatedBy.REST, now=now
    )
    if key:
        await insert_link_once(resources().database, link, key.text, key.fingerprint, now)
    else:
        await insert_link(resources().database, link)
    return link


async def _earlier_answer(key: IdempotencyKey) -> Response | None:
    earlier = await find_earlier_request(resources().database, caller().org_id, key.text)
    if earlier is None:
        return None
    if earlier.fingerprint != key.fingerprint:
        raise Refusal(error_table.IDEMPOTENCY_KEY_REUSED)
    return _created(earlier.domain, earlier.path)


async def _answer_of_the_one_that_was_faster(key: IdempotencyKey | None) -> Response:
    answer = await _earlier_answer(key) if key else None
    if answer is None:
        raise RuntimeError("an idempotency key was used, but is not stored")
    return answer


def _generated_path() -> str:
    return "".join(secrets.choice(PATH_ALPHABET) for _ in range(GENERATED_PATH_LENGTH))


def _created(domain: str, path: str) -> Response:
    answer: dict[str, Any] = {
        "status": "success",
        "message": "Link created successfully",
        "short_url": resources().short_url_form.write(domain, path),
    }
    response = jsonify(answer)
    response.status_code = 201
    return response

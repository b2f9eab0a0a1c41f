"""PATCH /update-link/{linkId} and PATCH /links/change-status/{linkId} (contract, "Update link",
"Enable/disable link")."""

from __future__ import annotations

from backend.current import resources
from backend.domain.errors import MissingField
from backend.domain.field_rules import Flag
from backend.domain.link_input import Changes, apply_changes, parse_changes
from backend.domain.links import Link
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.json_api.refusal import Refusal
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.link_reference import parse_link_id
from backend.storage.links import change_link, find_link
from backend.storage.loops import may_loop
from backend.storage.new_links import refuse_loop


@rest.patch("/update-link/<link_text>")
async def update_link(link_text: str) -> dict[str, str]:
    """Change the fields that the body has, all of them or, where one is refused, none."""
    link_id = parse_link_id(link_text)
    changes = parse_changes(await read_json_object())
    link = await _own_link(link_id)
    changed = apply_changes(link, changes)
    if may_loop(changes):
        await refuse_loop(resources().database, changed)
    if changed != link:
        await _store(link_id, changes)
    return {"message": "Link updated successfully", "status": "success"}


@rest.patch("/links/change-status/<link_text>")
async def change_status(link_text: str) -> dict[str, str]:
    """Enable or disable a link."""
    link_id = parse_link_id(link_text)
    is_enabled = _read_status(await read_json_object())
    link = await _own_link(link_id)
    if link.is_enabled is not is_enabled:
        await _store(link_id, {"is_enabled": is_enabled})
    return {"message": "Link enabled/disabled successfully", "status": "success"}


def _read_status(body: dict[str, object]) -> bool:
    if body.get("is_enabled") is None:
        raise MissingField("is_enabled")
    return Flag().parse("is_enabled", body["is_enabled"])


async def _own_link(link_id: str) -> Link:
    link = await find_link(resources().database, link_id, caller().org_id)
    if link is None:
        raise Refusal(error_table.LINK_NOT_FOUND)
    return link


async def _store(link_id: str, changes: Changes) -> None:
    now = resources().clock().replace(microsecond=0)
    if not await change_link(resources().database, link_id, caller().org_id, changes, now):
        raise Refusal(error_table.LINK_NOT_FOUND)

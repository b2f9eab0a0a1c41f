"""PATCH /update-link/{linkId} and PATCH /links/change-status/{linkId} (contract, "Update link",
"Enable/disable link")."""

from __future__ import annotations

from backend.domain.errors import MissingField
from backend.domain.fields.rules import Flag
from backend.domain.ids import LinkId
from backend.domain.links.input import Changes, parse_changes
from backend.domain.links.operations import ChangeLink
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.reference import parse_link_id
from backend.rest_api.links.service import carry_out
from backend.rest_api.routes.blueprint import rest
from backend.rest_api.routes.to_the_letter import to_the_letter


@rest.patch("/update-link/<link_text>")
@to_the_letter
async def update_link(link_text: str) -> dict[str, str]:
    """Change the fields that are in the body. If one of them is refused, nothing is changed."""
    link_id = parse_link_id(link_text)
    changes = parse_changes(await read_json_object())
    await _change(link_id, changes)
    return {"message": "Link updated successfully", "status": "success"}


@rest.patch("/links/change-status/<link_text>")
@to_the_letter
async def change_status(link_text: str) -> dict[str, str]:
    """Enable or disable a link."""
    link_id = parse_link_id(link_text)
    is_enabled = _read_status(await read_json_object())
    await _change(link_id, {"is_enabled": is_enabled})
    return {"message": "Link enabled/disabled successfully", "status": "success"}


def _read_status(body: dict[str, object]) -> bool:
    if body.get("is_enabled") is None:
        raise MissingField("is_enabled")
    return Flag().parse("is_enabled", body["is_enabled"])


async def _change(link_id: LinkId, changes: Changes) -> None:
    """Change the organization's link. Raises ApiError if it has no link with this id, or archived it."""
    await carry_out(ChangeLink(link_id, changes, not_archived=True))

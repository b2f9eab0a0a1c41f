"""PATCH /update-link/{linkId} and PATCH /links/change-status/{linkId} (contract, "Update link",
"Enable/disable link")."""

from __future__ import annotations

from backend.domain.accounts.permissions import Permission
from backend.domain.errors import MissingField
from backend.domain.fields.rules import Flag, Schema
from backend.domain.ids import LinkId
from backend.domain.links.input import UPDATE_FIELDS, Changes, parse_changes
from backend.domain.links.operations import ChangeLink
from backend.json_api import error_table
from backend.json_api.json_body import read_json_object
from backend.rest_api.links.reference import LINK_ID
from backend.rest_api.links.schemas import fields_schema
from backend.rest_api.links.service import carry_out
from backend.rest_api.routes.operation import Operation

_STATUS: Schema = {
    "type": "object",
    "required": ["is_enabled"],
    "properties": {"is_enabled": Flag().schema()},
}


@Operation(
    method="PATCH",
    path="/update-link/<link_text>",
    summary="Change fields of a link",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    body=fields_schema(UPDATE_FIELDS),
    answer="Changed",
    is_to_the_letter=True,
)
async def update_link(link_id: LinkId) -> dict[str, str]:
    """Change the fields that are in the body. If one of them is refused, nothing is changed."""
    changes = parse_changes(await read_json_object())
    await _change(link_id, changes)
    return {"message": "Link updated successfully", "status": "success"}


@Operation(
    method="PATCH",
    path="/links/change-status/<link_text>",
    summary="Enable or disable a link",
    needs=(Permission.LINKS_WRITE,),
    holds_reach=True,
    path_parameter=LINK_ID,
    body=_STATUS,
    answer="Changed",
    errors=(error_table.FIELD_MISSING,),
    is_to_the_letter=True,
)
async def change_status(link_id: LinkId) -> dict[str, str]:
    """Enable or disable a link."""
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

"""GET and PATCH /destination-rules: where the links of an organization may lead."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.destination_rules import RULE_FIELDS, DestinationRules
from backend.domain.accounts.permissions import Permission
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.storage.accounts.organizations import (
    UnknownOrganization,
    change_destination_rules,
    find_destination_rules,
)
from backend.web.current import resources

_PATH = "/destination-rules"


@Operation(
    method="GET",
    path=_PATH,
    summary="Get where links may lead",
    needs=(Permission.SETTINGS_READ,),
    answer="DestinationRules",
)
async def get_destination_rules() -> dict[str, Any]:
    """The rules; empty lists where there are none."""
    return _shown(await find_destination_rules(resources().database, caller().org_id))


@Operation(
    method="PATCH",
    path=_PATH,
    summary="Change where new links, and new destinations of others, may lead",
    needs=(Permission.SETTINGS_WRITE,),
    body=BodyFields(RULE_FIELDS),
    answer="DestinationRules",
)
async def patch_destination_rules(fields: dict[str, Any]) -> dict[str, Any]:
    """Replace the lists in the body, one or both. Links that lead elsewhere already stay as they are."""
    if not fields:
        return await get_destination_rules()
    try:
        return _shown(await change_destination_rules(resources().database, caller().org_id, fields))
    except UnknownOrganization:  # it was deleted a moment ago, and its keys with it
        raise ApiError(error_table.KEY_INVALID) from None


def _shown(rules: DestinationRules) -> dict[str, Any]:
    return {"allowed": list(rules.allowed), "refused": list(rules.refused)}

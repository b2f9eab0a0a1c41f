"""GET and PATCH /destination-rules: where the links of an organization may lead."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.destination_rules import DestinationRules, PatternList
from backend.domain.fields.rules import Rule
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.routes.blueprint import caller, rest
from backend.rest_api.routes.named_items import read_item
from backend.rest_api.routes.query_string import read_query
from backend.storage.accounts.organizations import (
    UnknownOrganization,
    change_destination_rules,
    find_destination_rules,
)
from backend.web.current import resources

RULE_LISTS: dict[str, Rule[Any]] = {"allowed": PatternList(), "refused": PatternList()}


@rest.get("/destination-rules")
async def get_destination_rules() -> dict[str, Any]:
    """The rules; empty lists where there are none."""
    read_query({})
    return _shown(await find_destination_rules(resources().database, caller().org_id))


@rest.patch("/destination-rules")
async def patch_destination_rules() -> dict[str, Any]:
    """Replace the lists in the body, one or both. Links that lead elsewhere already stay as they are."""
    read_query({})
    given = await read_item(RULE_LISTS)
    if not given:
        return await get_destination_rules()
    try:
        return _shown(await change_destination_rules(resources().database, caller().org_id, given))
    except UnknownOrganization:  # it was deleted a moment ago, and its keys with it
        raise ApiError(error_table.KEY_INVALID) from None


def _shown(rules: DestinationRules) -> dict[str, Any]:
    return {"allowed": list(rules.allowed), "refused": list(rules.refused)}

"""Operations on where links may lead, as data."""

from __future__ import annotations

from backend.json_api import error_table
from backend.rest_api.destinations.rules import RULE_LISTS
from backend.rest_api.routes.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation

_PATH = "/destination-rules"
_ERRORS = (error_table.QUERY_INVALID, *KEY_ERRORS, *EVERYWHERE)
_BODY = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: rule.schema() for name, rule in RULE_LISTS.items()},
}

OPERATIONS = (
    Operation(
        "get_destination_rules", "get", _PATH, "Get where links may lead", 200, "DestinationRules", _ERRORS
    ),
    Operation(
        "patch_destination_rules",
        "patch",
        _PATH,
        "Change where new links, and new destinations of others, may lead",
        200,
        "DestinationRules",
        (*BODY_ERRORS, *_ERRORS),
        body=_BODY,
    ),
)

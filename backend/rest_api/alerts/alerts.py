"""/alerts: what alert rules have told of (docs/alerts.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.alerts.json_form import AlertJson, alert_json
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.fields.rules import Flag, Uuid
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter, QueryParameter
from backend.rest_api.routes.whole_number import WholeNumber
from backend.storage.alerts import alerts
from backend.web.current import resources

_PATH = "/alerts"
_LIMIT = 50
_ID = PathParameter("alertId", Uuid().schema(), "The alert's id.", errors=(error_table.ALERT_NOT_FOUND,))
_SEEN = BodyFields({"is_seen": Flag()}, required=("is_seen",))
_QUERY = {
    "rule_id": QueryParameter(Uuid(), "Only alerts of this rule."),
    "before": QueryParameter(Uuid(), "Only alerts behind this one in the list: the last one's id."),
    "limit": QueryParameter(WholeNumber(1, 100, _LIMIT), "How many alerts at most."),
}


@Operation(
    method="GET",
    path=_PATH,
    summary="List alerts",
    needs=(Permission.ANALYTICS_READ,),
    query=_QUERY,
    answer="AlertList",
)
async def get_alerts(query: dict[str, Any]) -> dict[str, Any]:
    """What rules have told of, the latest first."""
    try:
        found = await alerts.list_alerts(
            resources().database,
            caller().org_id,
            query.get("limit", _LIMIT),
            rule_id=query.get("rule_id"),
            before=query.get("before"),
        )
    except ItemUnknown:
        raise InvalidField("before", "must be the id of an alert of yours") from None
    return {"alerts": [alert_json(alert) for alert in found]}


@Operation(
    method="PATCH",
    path=f"{_PATH}/<alert_text>",
    summary="Mark an alert as seen",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    body=_SEEN,
    answer="Alert",
)
async def patch_alert(alert_text: str, fields: dict[str, Any]) -> AlertJson:
    """Mark an alert as seen, or as not seen. That changes neither its cause nor who is told."""
    seen_at = resources().clock() if fields["is_seen"] else None
    return alert_json(await alerts.set_seen(resources().database, caller().org_id, alert_text, seen_at))

"""/alert-rules: what an organization wants to be told of (docs/alerts.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.alerts.input import CHANGE_FIELDS, NEW_CLEARABLE, NEW_FIELDS, NEW_REQUIRED
from backend.domain.alerts.json_form import AlertPreviewJson, AlertRuleJson, preview_json, rule_json
from backend.domain.alerts.rule import AlertRule
from backend.domain.fields.rules import Uuid
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter
from backend.storage.alerts import rules
from backend.storage.alerts.sources import AlertSources
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import resources

_PATH = "/alert-rules"
_ONE = f"{_PATH}/<rule_text>"
_ID = PathParameter("ruleId", Uuid().schema(), "The rule's id.", errors=(error_table.ALERT_RULE_NOT_FOUND,))
_NEW = BodyFields(NEW_FIELDS, required=NEW_REQUIRED, clearable=NEW_CLEARABLE)
_CHANGES = BodyFields(CHANGE_FIELDS)


@Operation(
    method="GET",
    path=_PATH,
    summary="List the alert rules",
    needs=(Permission.ANALYTICS_READ,),
    answer="AlertRuleList",
)
async def get_alert_rules() -> dict[str, Any]:
    """All alert rules, the oldest first."""
    found = await rules.list_rules(resources().database, caller().org_id)
    tags = await rules.tag_names_of(resources().database, caller().org_id, found)
    return {"alert_rules": [rule_json(rule, tags) for rule in found]}


@Operation(
    method="POST",
    path=_PATH,
    summary="Make an alert rule",
    needs=(Permission.ANALYTICS_WRITE,),
    body=_NEW,
    status=201,
    answer="AlertRule",
)
async def post_alert_rule(fields: dict[str, Any]) -> tuple[AlertRuleJson, int]:
    """Make a rule. It is looked after from then on, every five minutes."""
    now = resources().clock()
    return await _json(await rules.create_rule(resources().database, caller().org_id, fields, now)), 201


@Operation(
    method="GET",
    path=_ONE,
    summary="Get an alert rule",
    needs=(Permission.ANALYTICS_READ,),
    path_parameter=_ID,
    answer="AlertRule",
)
async def get_alert_rule(rule_text: str) -> AlertRuleJson:
    """One rule."""
    return await _json(await rules.get_rule(resources().database, caller().org_id, rule_text))


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change an alert rule",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    body=_CHANGES,
    answer="AlertRule",
)
async def patch_alert_rule(rule_text: str, fields: dict[str, Any]) -> AlertRuleJson:
    """Change the fields in the body. Thresholds that it does not have stay. Kind and link or tag stay too."""
    return await _json(await rules.change_rule(resources().database, caller().org_id, rule_text, fields))


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete an alert rule",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_alert_rule(rule_text: str) -> None:
    """Delete a rule. What it has told of stays in the list."""
    await rules.delete_rule(resources().database, caller().org_id, rule_text)


@Operation(
    method="POST",
    path="/alert-preview",
    summary="Ask what an alert rule would have told of in the last seven days",
    needs=(Permission.ANALYTICS_READ,),
    body=_NEW,
    answer="AlertPreview",
    errors=(error_table.FIGURES_UNAVAILABLE,),
)
async def preview_alert_rule(fields: dict[str, Any]) -> AlertPreviewJson:
    """What a rule with these fields would have told of. Nothing is stored or sent."""
    database, org_id, now = resources().database, caller().org_id, resources().clock()
    rule = await rules.drafted_rule(database, org_id, fields, now)
    lift_deadline()
    return preview_json(rule, await AlertSources(database, resources().analytics, org_id, now).preview(rule))


async def _json(rule: AlertRule) -> AlertRuleJson:
    tags = await rules.tag_names_of(resources().database, caller().org_id, [rule])
    return rule_json(rule, tags)

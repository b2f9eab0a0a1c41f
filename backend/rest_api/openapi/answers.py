"""The schemas of answers that have a shape, by their names in the document."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.alerts.json_form import AlertFindingJson, AlertJson, AlertPreviewJson, AlertRuleJson
from backend.domain.costs.json_form import CostJson
from backend.domain.feed.event_shapes import AuditEntryJson
from backend.domain.fields.answer_schemas import TEXT, answer_object
from backend.domain.fields.rules import Schema
from backend.domain.fields.shapes import JsonShape, schema_of
from backend.domain.links.json_form import WholeLinkJson
from backend.domain.reports.json_form import ReportJson
from backend.domain.reports.recipient import RecipientJson
from backend.domain.taps.json_form import ExplainedTapsJson
from backend.domain.webhooks.endpoint_json import WebhookDeliveryJson, WebhookJson, WebhookWithSecretJson
from backend.rest_api.archives.archives import ArchiveJson
from backend.rest_api.keys.keys import KeyJson, NewKeyJson
from backend.rest_api.links.representations import TagJson, UtmTemplateJson
from backend.rest_api.members.members import MemberInvitationJson, MemberJson, NewMemberInvitationJson
from backend.rest_api.routes.operation import reference

_SHAPES: Mapping[str, JsonShape] = {
    "WholeLink": WholeLinkJson,
    "ExplainedTaps": ExplainedTapsJson,
    "Tag": TagJson,
    "UtmTemplate": UtmTemplateJson,
    "Webhook": WebhookJson,
    "WebhookWithSecret": WebhookWithSecretJson,
    "WebhookDelivery": WebhookDeliveryJson,
    "ReportRecipient": RecipientJson,
    "Report": ReportJson,
    "AlertRule": AlertRuleJson,
    "Alert": AlertJson,
    "AlertFinding": AlertFindingJson,
    "Cost": CostJson,
    "ApiKey": KeyJson,
    "NewApiKey": NewKeyJson,
    "AuditEntry": AuditEntryJson,
    "Member": MemberJson,
    "MemberInvitation": MemberInvitationJson,
    "NewMemberInvitation": NewMemberInvitationJson,
    "Archive": ArchiveJson,
}
# Of each the name of its list, and of what it lists.
_LISTS = {
    "TagList": ("tags", "Tag"),
    "UtmTemplateList": ("utm_templates", "UtmTemplate"),
    "WebhookList": ("webhooks", "Webhook"),
    "WebhookDeliveryList": ("deliveries", "WebhookDelivery"),
    "ReportRecipientList": ("recipients", "ReportRecipient"),
    "ReportList": ("reports", "Report"),
    "AlertRuleList": ("alert_rules", "AlertRule"),
    "AlertList": ("alerts", "Alert"),
    "ApiKeyList": ("keys", "ApiKey"),
    "MemberList": ("members", "Member"),
    "MemberInvitationList": ("invitations", "MemberInvitation"),
    "ArchiveList": ("archives", "Archive"),
}


def _list_of(schema: str) -> Schema:
    return {"type": "array", "items": reference(schema)}


def _with(shape: JsonShape, **listed: str) -> Schema:
    """The schema of the shape, with these lists by the names of what they list."""
    schema = schema_of(shape)
    return schema | {"properties": schema["properties"] | {name: _list_of(of) for name, of in listed.items()}}


ANSWER_SCHEMAS: dict[str, Schema] = {
    **{name: schema_of(shape) for name, shape in _SHAPES.items()},
    **{name: answer_object(**{listed: _list_of(schema)}) for name, (listed, schema) in _LISTS.items()},
    "AlertPreview": _with(AlertPreviewJson, findings="AlertFinding"),
    "AuditLog": answer_object(
        entries=_list_of("AuditEntry"), next_cursor=TEXT | {"description": "Where to go on later."}
    ),
}

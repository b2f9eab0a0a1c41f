"""JSON Schemas of tags and UTM templates in answers."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import COUNT, TEXT, TIME, answer_object, or_null
from backend.domain.fields.rules import Schema
from backend.domain.links.links import UTM_FIELDS
from backend.rest_api.routes.operation import reference

TAG_SCHEMAS: dict[str, Schema] = {
    "Tag": answer_object(name=TEXT, color=TEXT, links=COUNT, created_at=TIME),
    "TagList": answer_object(tags={"type": "array", "items": reference("Tag")}),
    "UtmTemplate": answer_object(name=TEXT, **dict.fromkeys(UTM_FIELDS, or_null(TEXT)), created_at=TIME),
    "UtmTemplateList": answer_object(utm_templates={"type": "array", "items": reference("UtmTemplate")}),
}

"""JSON Schemas of annotations in answers."""

from __future__ import annotations

from backend.domain.annotations.annotation import NotedBy
from backend.domain.annotations.input import ANNOTATION_FIELDS
from backend.domain.feed.events import EventType
from backend.domain.fields.rules import Schema
from backend.rest_api.routes.answer_schemas import answer_object
from backend.rest_api.routes.operation import reference

_ID: Schema = {"type": "string", "format": "uuid"}
_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}
_ANNOTATION: dict[str, Schema] = {
    "id": _ID,
    "at": ANNOTATION_FIELDS["at"].schema()
    | {"description": "As it was given: a day, whichever time zone that is shown in, or a time in UTC."},
    "text": {"type": "string"},
    "link_id": {"anyOf": [_ID, {"type": "null"}], "description": "The link that it is about; null: all."},
    "created_by": {"type": "string", "enum": [noted_by.value for noted_by in NotedBy]},
    "created_at": _INSTANT,
}
_CHANGE: dict[str, Schema] = {
    "at": {"type": "string", "format": "date-time", "description": "UTC, to the millisecond."},
    "type": {
        "type": "string",
        "enum": [EventType.LINK_CREATED.value, EventType.LINK_CHANGED.value, EventType.LINK_ARCHIVED.value],
    },
    "changed": {
        "type": "array",
        "items": {"type": "string"},
        "description": "The fields that the link's change has changed, as the feed names them.",
    },
}
ANNOTATION_SCHEMAS: dict[str, Schema] = {
    "Annotation": answer_object(**_ANNOTATION),
    "LinkChange": answer_object(**_CHANGE),
    "AnnotationList": {
        "type": "object",
        "required": ["annotations", "changes"],
        "properties": {
            "annotations": {"type": "array", "items": reference("Annotation")},
            "changes": {
                "type": "array",
                "items": reference("LinkChange"),
                "description": "The latest 1,000 changes of the link that `link_id` names, oldest first.",
            },
        },
    },
}

"""GET /annotations: notes at days and times, and beside those of a link its changes (docs/annotations.md)."""

from __future__ import annotations

from typing import Any

from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.annotations.link_change import LinkChange
from backend.domain.feed.events import EventType
from backend.domain.fields.answer_schemas import TEXTS, answer_object
from backend.domain.fields.rules import Schema
from backend.domain.fields.times.json_times import exact_time_json
from backend.rest_api.resources.operations import query_of
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.operation import Operation, reference
from backend.storage.analytics.link_changes import MOST_CHANGES, LinkChanges
from backend.storage.resources.things import Things
from backend.web.current import resources

_CHANGE: dict[str, Schema] = {
    "at": {"type": "string", "format": "date-time", "description": "UTC, to the millisecond."},
    "type": {
        "type": "string",
        "enum": [EventType.LINK_CREATED.value, EventType.LINK_CHANGED.value, EventType.LINK_ARCHIVED.value],
    },
    "changed": TEXTS
    | {"description": "The fields that the link's change has changed, as the feed names them."},
}
_CHANGES: Schema = {
    "type": "array",
    "items": reference("LinkChange"),
    "description": "The latest 1,000 changes of the link that `link_id` names, oldest first.",
}
ANNOTATION_SCHEMAS: dict[str, Schema] = {
    "LinkChange": answer_object(**_CHANGE),
    "AnnotationList": answer_object(
        annotations={"type": "array", "items": reference("Annotation")}, changes=_CHANGES
    ),
}


@Operation(
    method="GET",
    path=ANNOTATIONS.rest.path,
    summary="List notes at days and times",
    needs=(ANNOTATIONS.reads,),
    query=query_of(ANNOTATIONS),
    answer="AnnotationList",
)
async def get_annotations(query: dict[str, Any]) -> dict[str, Any]:
    """Notes, the oldest first, and with `link_id` the latest changes of that link, which nobody noted."""
    org_id, link_id = caller().org_id, query.get("link_id")
    noted = await Things(ANNOTATIONS).list(resources().database, org_id, query)
    changes = []
    if link_id:
        question = LinkChanges(link_id, query.get("from"), query.get("to"), MOST_CHANGES)
        changes = await resources().analytics.ask(org_id, question)
    return {
        "annotations": [ANNOTATIONS.to_json(note) for note in noted],
        "changes": [_change_json(change) for change in changes],
    }


def _change_json(change: LinkChange) -> dict[str, Any]:
    return {"at": exact_time_json(change.at), "type": change.type.value, "changed": list(change.changed)}

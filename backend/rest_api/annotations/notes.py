"""/annotations: notes at days and times, which charts show (docs/annotations.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.annotations.annotation import NotedBy
from backend.domain.annotations.input import ANNOTATION_CLEARABLE, ANNOTATION_FIELDS, ANNOTATION_REQUIRED
from backend.domain.annotations.json_form import annotation_json, change_json
from backend.domain.fields.rules import Instant, Uuid
from backend.json_api import error_table
from backend.rest_api.routes.blueprint import caller
from backend.rest_api.routes.body_fields import BodyFields
from backend.rest_api.routes.operation import Operation
from backend.rest_api.routes.parameters import PathParameter, QueryParameter
from backend.storage.analytics.link_changes import MOST_CHANGES, LinkChanges
from backend.storage.annotations import notes
from backend.web.current import resources

_PATH = "/annotations"
_ONE = f"{_PATH}/<annotation_text>"
_ID = PathParameter(
    "annotationId", Uuid().schema(), "The annotation's id.", errors=(error_table.ANNOTATION_NOT_FOUND,)
)
_CHANGES = BodyFields(ANNOTATION_FIELDS, clearable=ANNOTATION_CLEARABLE)
_NEW = replace(_CHANGES, required=ANNOTATION_REQUIRED)
_QUERY = {
    "from": QueryParameter(Instant(), "Only what was noted of this time or a later one."),
    "to": QueryParameter(Instant(), "Only what was noted of an earlier time."),
    "link_id": QueryParameter(Uuid(), "Only notes of this link, with the changes of the link."),
}


@Operation(
    method="GET",
    path=_PATH,
    summary="List notes at days and times",
    needs=(Permission.ANALYTICS_READ,),
    query=_QUERY,
    answer="AnnotationList",
)
async def get_annotations(query: dict[str, Any]) -> dict[str, Any]:
    """Notes, the oldest first, and with `link_id` the latest changes of that link, which nobody noted."""
    org_id, link_id = caller().org_id, query.get("link_id")
    start, end = query.get("from"), query.get("to")
    noted = await notes.list_annotations(resources().database, org_id, start, end, link_id)
    changes = []
    if link_id:
        changes = await resources().analytics.ask(org_id, LinkChanges(link_id, start, end, MOST_CHANGES))
    return {
        "annotations": [annotation_json(annotation) for annotation in noted],
        "changes": [change_json(change) for change in changes],
    }


@Operation(
    method="POST",
    path=_PATH,
    summary="Note something at a day or a time",
    needs=(Permission.ANALYTICS_WRITE,),
    body=_NEW,
    status=201,
    answer="Annotation",
)
async def post_annotation(fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Note what happened at a day or a time. Charts show it there, and list it below."""
    now = resources().clock()
    added = await notes.add_annotation(resources().database, caller().org_id, fields, NotedBy.REST, now)
    return annotation_json(added), 201


@Operation(
    method="PATCH",
    path=_ONE,
    summary="Change a note",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    body=_CHANGES,
    answer="Annotation",
)
async def patch_annotation(annotation_text: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Change the fields in the body. `link_id` may be null: then the note is of no link."""
    changed = await notes.change_annotation(resources().database, caller().org_id, annotation_text, fields)
    return annotation_json(changed)


@Operation(
    method="DELETE",
    path=_ONE,
    summary="Delete a note",
    needs=(Permission.ANALYTICS_WRITE,),
    path_parameter=_ID,
    status=204,
)
async def remove_annotation(annotation_text: str) -> None:
    """Delete a note. No chart shows it any more."""
    await notes.delete_annotation(resources().database, caller().org_id, annotation_text)

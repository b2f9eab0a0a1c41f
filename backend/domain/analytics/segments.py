"""Segments: filters of the overview that an organization has saved under a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.filters import Filters
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, Field
from backend.domain.errors import InvalidField, shown_name
from backend.domain.fields.answer_schemas import TEXT
from backend.domain.fields.rules import Schema, Text
from backend.domain.ids import OrgId
from backend.domain.resources.resource import Resource, RestNames, RestOperation, Verb
from backend.domain.resources.resource_field import CREATED_AT, CommandOption, ResourceField

# As the overview has them in its address.
_LONGEST_VALUE = 300
_FIELDS = [field.value for field in Field if field in (LINK_FIELDS | CLICK_FIELDS) - {Field.OUTCOME}]


class SegmentFilters:
    """An object with a value, or null for none, for each field that is filtered by."""

    _VALUE = Text(_LONGEST_VALUE, shown=True)

    def parse(self, field: str, value: object) -> dict[str, str | None]:
        """The values by field, as the overview filters by them. Raises InvalidField."""
        if not isinstance(value, dict) or not value:
            raise InvalidField(field, "must be an object with at least one field of the overview's filters")
        for name, given in value.items():
            shown = f"{field}.{shown_name(name)}"
            if name not in _FIELDS:
                raise InvalidField(shown, f"can't be filtered by; possible are {', '.join(_FIELDS)}")
            if given is not None:
                self._VALUE.parse(shown, given)
        filters = Filters().parse(field, {name: [given] for name, given in value.items()})
        return {by.value: only for by, values in filters.items() for only in values}  # type: ignore[union-attr]

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        value: Schema = {"type": ["string", "null"], "minLength": 1, "maxLength": _LONGEST_VALUE}
        properties = dict.fromkeys(_FIELDS, value)
        return {"type": "object", "minProperties": 1, "properties": properties, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Segment:
    """Filters with a name, by the names that queries have for fields."""

    id: str
    org_id: OrgId
    name: str
    filters: Mapping[str, str | None]
    created_at: datetime


SEGMENTS = Resource(
    collection="segments",
    thing=Segment,
    one="segment",
    several="segments",
    fields={
        "name": ResourceField(
            rule=Text(100, shown=True),
            answer=TEXT,
            is_required=True,
            option=CommandOption("--name", "What it is called."),
        ),
        "filters": ResourceField(
            rule=SegmentFilters(),
            answer={"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            is_required=True,
            option=CommandOption(
                "--filters", 'Fields and values, as {"country": "DE"}.', "JSON", is_json=True
            ),
        ),
        "created_at": CREATED_AT,
    },
    most=200,
    too_many_at="name",
    order=("name",),
    reads=Permission.ANALYTICS_READ,
    writes=Permission.ANALYTICS_WRITE,
    audit_kind="segment",
    known_by="name",
    why_not_personal="it says what is counted, and of nobody in particular",
    rest=RestNames(
        path="/segments",
        id_name="segmentId",
        id_meaning="The segment's id.",
        thing="Segment",
        not_found="SEGMENT_NOT_FOUND",
        schema="Segment",
        list_schema="SegmentList",
        listed="segments",
        operations={
            Verb.LIST: RestOperation("get_segments", "List the segments of the overview"),
            Verb.ADD: RestOperation("post_segment", "Save filters of the overview as a segment"),
            Verb.GET: RestOperation("get_segment", "Get a segment"),
            Verb.CHANGE: RestOperation("patch_segment", "Change a segment"),
            Verb.DELETE: RestOperation("remove_segment", "Delete a segment"),
        },
    ),
    pages={Verb.LIST: "segments", Verb.ADD: "segments_add", Verb.DELETE: "segments_delete"},
)

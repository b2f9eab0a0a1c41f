"""Annotations: what somebody noted about a day or a time (docs/annotations.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.period import EARLIEST, LATEST
from backend.domain.errors import InvalidField
from backend.domain.fields.answer_schemas import TEXT, UUID, or_null
from backend.domain.fields.rules import Flag, Instant, Schema, Text, Uuid, parse_string
from backend.domain.fields.times.json_times import time_json
from backend.domain.ids import AnnotationId, LinkId, OrgId
from backend.domain.resources.resource import (
    FilterOperator,
    ListFilter,
    Resource,
    RestNames,
    RestOperation,
    Verb,
)
from backend.domain.resources.resource_field import (
    CREATED_AT,
    CREATED_BY,
    CommandOption,
    MadeBy,
    Referent,
    ResourceField,
    StoredForm,
    StoredTime,
)

LONGEST_TEXT = 200
_AS_GIVEN = "As it was given: a day, whichever time zone that is shown in, or a time in UTC."
_DAY_LENGTH = len("2026-03-02")
# The largest difference between the time of a zone and UTC, and a little more.
_LARGEST_OFFSET = timedelta(hours=15)


@dataclass(frozen=True, slots=True)
class NotedTime:
    """The time of an annotation, as its fields `at` and `is_of_day` have it."""

    at: datetime
    is_of_day: bool

    @classmethod
    def of_day(cls, day: date) -> NotedTime:
        """The whole day."""
        return cls(datetime(day.year, day.month, day.day, tzinfo=UTC), is_of_day=True)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note of an organization, or of one of its links if it has a `link_id`.

    If it `is_of_day`, it belongs to a calendar day, whichever time zone that day is shown in, and `at` is the
    beginning of that day in UTC. Else it belongs to the moment `at`.
    """

    id: AnnotationId
    org_id: OrgId
    at: datetime
    is_of_day: bool
    text: str
    created_at: datetime
    created_by: MadeBy
    link_id: LinkId | None = None

    @property
    def noted_time(self) -> NotedTime:
        """The day or the time that it is about."""
        return NotedTime(self.at, self.is_of_day)


class DayOrTime:
    """A date, which means that whole day, or a time in ISO 8601 with a zone."""

    _RULE = Instant()

    def parse(self, field: str, value: object) -> NotedTime:
        """The day, or the time in UTC and whole seconds. Raises InvalidField."""
        text = parse_string(field, value)
        at = self._RULE.parse(field, text).replace(microsecond=0)
        if not EARLIEST <= at < LATEST:
            raise InvalidField(field, f"must be between {EARLIEST:%Y-%m-%d} and {LATEST:%Y-%m-%d}")
        return NotedTime(at, is_of_day=len(text) == _DAY_LENGTH)

    def schema(self) -> Schema:
        """JSON Schema of a date or time."""
        return self._RULE.schema()


def _time_as_given(note: Annotation) -> str:
    return note.at.date().isoformat() if note.is_of_day else time_json(note.at)


def times_around(start: datetime, end: datetime) -> dict[str, Any]:
    """The filters of a list that has the notes between these times, and those of all days that are between
    them in any time zone."""
    return {"from": start - _LARGEST_OFFSET, "to": end + _LARGEST_OFFSET}


ANNOTATIONS = Resource(
    collection="annotations",
    thing=Annotation,
    one="note",
    several="notes",
    fields={
        "at": ResourceField(
            rule=DayOrTime(),
            answer=DayOrTime().schema() | {"description": _AS_GIVEN},
            is_required=True,
            stored=StoredForm({"at": StoredTime(), "is_of_day": Flag()}, asdict),
            shown=_time_as_given,
            option=CommandOption("--at", "A day, as 2026-03-02, or a time, as 2026-03-02T09:00:00Z.", "TIME"),
        ),
        "text": ResourceField(
            rule=Text(LONGEST_TEXT, shown=True),
            answer=TEXT,
            is_required=True,
            option=CommandOption("--text", f"What happened, in up to {LONGEST_TEXT} characters."),
        ),
        "link_id": ResourceField(
            rule=Uuid(),
            answer=or_null(UUID, "The link that it is about; null: all."),
            is_clearable=True,
            refers_to=Referent.LINK,
            goes_along=True,
            option=CommandOption("--link", "The link that it is about.  [default: all]", "ID"),
        ),
        "created_by": CREATED_BY,
        "created_at": CREATED_AT,
    },
    most=2_000,
    too_many_at="text",
    order=("at", "created_at"),
    filters={
        "from": ListFilter(
            Instant(),
            "Only what was noted of this time or a later one.",
            "at",
            FilterOperator.FROM,
            CommandOption("--from", "Only notes of this time or later ones.", "TIME"),
        ),
        "to": ListFilter(
            Instant(),
            "Only what was noted of an earlier time.",
            "at",
            FilterOperator.BEFORE,
            CommandOption("--to", "Only notes of earlier times.", "TIME"),
        ),
        "link_id": ListFilter(
            Uuid(),
            "Only notes of this link, with the changes of the link.",
            "link_id",
            FilterOperator.EQUALS,
            CommandOption("--link", "Only notes of this link.", "ID"),
        ),
    },
    reads=Permission.ANALYTICS_READ,
    writes=Permission.ANALYTICS_WRITE,
    audit_kind="note",
    known_by="text",
    why_not_personal="the organization's own people wrote it about what they did",
    rest=RestNames(
        path="/annotations",
        id_name="annotationId",
        id_meaning="The annotation's id.",
        thing="Annotation",
        not_found="ANNOTATION_NOT_FOUND",
        schema="Annotation",
        list_schema="AnnotationList",
        listed="annotations",
        # What the list has besides notes is in rest_api/annotations.
        operations={
            Verb.ADD: RestOperation("post_annotation", "Note something at a day or a time"),
            Verb.CHANGE: RestOperation("patch_annotation", "Change a note"),
            Verb.DELETE: RestOperation("remove_annotation", "Delete a note"),
        },
    ),
    pages={
        Verb.LIST: "notes",
        Verb.ADD: "notes_add",
        Verb.CHANGE: "notes_change",
        Verb.DELETE: "notes_delete",
    },
)

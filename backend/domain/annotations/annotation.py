"""Annotations: what somebody noted about a day or a time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum

from backend.domain.ids import AnnotationId, LinkId, OrgId

# Of an organization. Two that are made at the same moment may exceed it.
MOST_ANNOTATIONS = 2_000
LONGEST_TEXT = 200


class NotedBy(StrEnum):
    """How an annotation was made."""

    PERSON = "person"  # in the dashboard or on the command line
    REST = "rest"


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
    created_by: NotedBy
    link_id: LinkId | None = None

    @property
    def noted_time(self) -> NotedTime:
        """The day or the time that it is about."""
        return NotedTime(self.at, self.is_of_day)

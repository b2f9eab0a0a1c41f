"""Endpoints: where an organization's events are sent, which of them, and how far that has come."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.ids import EndpointId, LinkId, OrgId, TagId

# Of an organization. Two that are made at the same moment may exceed it.
MOST_ENDPOINTS = 50
# How long a secret goes on to sign beside the one that replaced it.
OLD_SECRET_KEPT = timedelta(hours=24)


class Form(StrEnum):
    """What is sent: the events themselves, or messages for a chat that say what happened."""

    JSON = "json"
    SLACK = "slack"
    DISCORD = "discord"
    TEAMS = "teams"


class EndpointState(StrEnum):
    """Whether events are sent to an endpoint."""

    ACTIVE = "active"
    FAILING = "failing"  # the last request failed, and will be tried again
    SLEEPING = "sleeping"  # nothing is tried any more until somebody says "go on"
    DISABLED = "disabled"  # by its organization


@dataclass(frozen=True, slots=True)
class OldSecret:
    """A secret that was replaced, and still signs until this time."""

    secret: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint. Everything before its `cursor` was delivered, or did not concern it.

    `types`, `link_ids` and `tag_ids` say which events it gets (domain/webhooks/selection); an empty one does
    not choose. `batch_size` is the most events of one request; with 1 the body is the event itself.
    `cursor_at` is when the newest event happened that was delivered, or else where the cursor was put to.
    `failing_since` is when the first of the failures in a row was, whose number is `failures`, and
    `next_try_at` when it is tried again; `slept_at` is since when it is not tried any more. `last_error` says
    what went wrong, None once it works. `delivered` counts events in requests that were answered well,
    `repeats` events in requests that had been in an earlier one, also where that one failed.
    """

    id: EndpointId
    org_id: OrgId
    url: str
    created_at: datetime
    cursor: Cursor
    cursor_at: datetime
    secret: str = field(repr=False)
    old_secrets: tuple[OldSecret, ...] = field(default=(), repr=False)
    types: tuple[EventType, ...] = ()
    link_ids: tuple[LinkId, ...] = ()
    tag_ids: tuple[TagId, ...] = ()
    form: Form = Form.JSON
    batch_size: int = 1
    is_enabled: bool = True
    failing_since: datetime | None = None
    failures: int = 0
    next_try_at: datetime | None = None
    slept_at: datetime | None = None
    last_error: str | None = None
    delivered: int = 0
    repeats: int = 0

    @property
    def state(self) -> EndpointState:
        """Whether the endpoint gets events, is tried again, is not tried any more, or is disabled."""
        if not self.is_enabled:
            return EndpointState.DISABLED
        if self.slept_at:
            return EndpointState.SLEEPING
        return EndpointState.FAILING if self.failing_since else EndpointState.ACTIVE

    def secrets_at(self, now: datetime) -> list[str]:
        """The secrets that sign at this time, the newest first."""
        return [self.secret, *(old.secret for old in self.old_secrets if now < old.until)]

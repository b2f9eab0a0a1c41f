"""Events: what a feed tells (the extensions' "Feed and webhooks")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.feed.cursor import Cursor
from backend.domain.ids import OrgId


class EventType(StrEnum):
    """What happened."""

    LINK_CREATED = "link.created"
    LINK_CHANGED = "link.changed"
    LINK_ARCHIVED = "link.archived"
    CLICK = "click"
    LEAD = "lead"
    CONVERSION = "conversion"
    REFUND = "refund"
    EVENT = "event"
    IDENTIFY = "identify"
    INSTALL = "install"
    OPEN = "open"
    ERASED = "erased"
    ALERT = "alert"
    AUDIT = "audit"


# What readers get who name no types. The audit log names members, and is for who asks for it.
USUAL_TYPES = frozenset(EventType) - {EventType.AUDIT}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in an organization.

    `id` is the same whenever it is read, and no other event of any organization has it. `at` is when it
    happened. `cursor` is where to go on behind the event.
    """

    id: str
    type: EventType
    at: datetime
    org_id: OrgId
    data: Mapping[str, Any]
    cursor: Cursor

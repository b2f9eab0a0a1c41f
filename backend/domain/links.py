"""Links: a short URL (domain and path) and where it leads."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from backend.domain.ids import LinkId, OrgId


class Behavior(IntEnum):
    """What a phone does with a link (contract, "Link input fields")."""

    BROWSER = 1
    APP = 2


class CreatedBy(StrEnum):
    """The kind of key that a link was made with (contract, "List links")."""

    DASHBOARD = "api_user"
    REST = "api_rest"
    SDK = "sdk"


class LinkState(StrEnum):
    """What a link does for visitors now."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    ARCHIVED = "archived"


UTM_FIELDS = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")
# Where visitors go instead of the destination: on a desktop, or where a phone lacks the app.
FALLBACK_FIELDS = ("ios_fallback_url", "android_fallback_url", "desktop_url")
TARGET_FIELDS = ("destination_url", *FALLBACK_FIELDS)
SOCIAL_FIELDS = ("social_title", "social_description", "social_image_url")


@dataclass(frozen=True, slots=True)
class ImportedClicks:
    """What another service had counted for a link by the time it was imported.

    It is history to look at, in no window and in no sum of ours: that service counted by its own rules.
    """

    count: int
    source: str
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class Link:
    """A dynamic link.

    `utm`, `social` and `fallbacks` map field names to values, only for fields that are set. `external_id` is
    the organization's own name for the link, unique among its links. An archived link is never enabled;
    `was_enabled` says whether it was when it was archived.
    """

    id: LinkId
    org_id: OrgId
    domain: str
    path: str
    destination_url: str
    link_name: str
    created_at: datetime
    modified_at: datetime
    is_enabled: bool = True
    ios_behavior: Behavior = Behavior.BROWSER
    android_behavior: Behavior = Behavior.BROWSER
    utm: dict[str, str] = field(default_factory=dict)
    social: dict[str, str] = field(default_factory=dict)
    fallbacks: dict[str, str] = field(default_factory=dict)
    custom_data: dict[str, Any] | None = None
    created_by: CreatedBy = CreatedBy.REST
    imported_clicks: ImportedClicks | None = None
    external_id: str | None = None
    archived_at: datetime | None = None
    was_enabled: bool = False

    @property
    def is_archived(self) -> bool:
        """Whether the link is archived: it leads nowhere, and keeps its path and its counts."""
        return self.archived_at is not None

    @property
    def state(self) -> LinkState:
        """What the link does for visitors now."""
        if self.is_archived:
            return LinkState.ARCHIVED
        return LinkState.ENABLED if self.is_enabled else LinkState.DISABLED

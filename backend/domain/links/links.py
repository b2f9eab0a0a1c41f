"""Links: a short URL (domain and path) and where it leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from backend.domain.fields.parameter_names import ParameterNames
from backend.domain.fields.rules import Flag, Rule, Text, Word
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.limits import NO_LIMITS, LinkLimits
from backend.domain.links.rules.rule_json import rule_targets


class Behavior(IntEnum):
    """What a phone does with a link (contract, "Link input fields")."""

    BROWSER = 1
    APP = 2


class CreatedBy(StrEnum):
    """The kind of key that a link was made with (contract, "List links").

    A person makes links in the dashboard and on the command line, without a key.
    """

    PERSON = "api_user"
    REST = "api_rest"
    SDK = "sdk"


class QueryPrecedence(StrEnum):
    """Whose parameter a destination gets that has one of the same name as the visitor's."""

    DESTINATION = "destination"
    VISITOR = "visitor"


class LinkState(StrEnum):
    """What a link does for visitors now."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    NOT_STARTED = "not_started"
    HELD = "held"


UTM_FIELDS = ("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")
# Where visitors go instead of the destination: on a desktop, or where a phone lacks the app.
FALLBACK_FIELDS = ("ios_fallback_url", "android_fallback_url", "desktop_url")
TARGET_FIELDS = ("destination_url", *FALLBACK_FIELDS)
# All fields that say where a visitor may be led, also one who comes too late.
LEADING_FIELDS = (*TARGET_FIELDS, "expired_url")
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
class Hold:
    """The service's operator has stopped a link, at this time and for this reason.

    Its organization reads the reason, visitors don't.
    """

    at: datetime
    why: str


def _told(rule: Rule[Any], default: Any = None, *, redirects: bool = False) -> Any:
    """A field that requests give by this rule, as it is stored. If it is None by default, null clears it.

    `redirects` says whether redirects need it.
    """
    return field(default=default, metadata={"rule": rule, "redirects": redirects})


@dataclass(frozen=True, slots=True)
class Link:
    """A dynamic link.

    `utm`, `social` and `fallbacks` map field names to values, only for fields that are set. `external_id` is
    the organization's own name for the link, unique among its links. `tag_ids` may hold ids of tags that are
    gone. An archived link is never enabled; `was_enabled` says whether it was when it was archived. `rules`
    are as `rules.input` writes them. With `forwards_path`, what follows the link's path is passed on;
    `forwards_query` names the parameters that are (None: all). Without `adds_link_id`, nothing is added to
    its addresses; with `query_precedence`, only one side's parameters arrive of equal names (None: both). A
    link on `hold` leads nowhere, whatever its organization does.
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
    external_id: str | None = _told(Text(256, shown=True))
    tag_ids: list[TagId] = field(default_factory=list)
    archived_at: datetime | None = None
    was_enabled: bool = False
    limits: LinkLimits = NO_LIMITS
    rules: list[dict[str, Any]] = field(default_factory=list)
    forwards_path: bool = _told(Flag(), False, redirects=True)
    forwards_query: list[str] | None = _told(ParameterNames(), redirects=True)
    adds_link_id: bool = _told(Flag(), True, redirects=True)
    query_precedence: QueryPrecedence | None = _told(Word(QueryPrecedence), redirects=True)
    hold: Hold | None = None

    @property
    def destinations(self) -> dict[str, str]:
        """Every address to which the link may ever lead anyone, by the name of the link's field."""
        last = {"expired_url": self.limits.expired_url} if self.limits.expired_url else {}
        rules = rule_targets(self.rules)
        return {"destination_url": self.destination_url, **self.fallbacks, **rules, **last}

    @property
    def is_archived(self) -> bool:
        """Whether the link is archived: it leads nowhere, and keeps its path and its counts."""
        return self.archived_at is not None

    def state_at(self, now: datetime) -> LinkState:
        """What the link does for visitors at this time."""
        if self.is_archived:
            return LinkState.ARCHIVED
        if self.hold:
            return LinkState.HELD
        if not self.is_enabled:
            return LinkState.DISABLED
        if self.limits.is_expired(now):
            return LinkState.EXPIRED
        return LinkState.NOT_STARTED if self.limits.is_before_start(now) else LinkState.ENABLED


_TOLD = [item for item in fields(Link) if "rule" in item.metadata]
# The rules of fields that need nothing else, by their names; which of them null clears; and, of those that
# redirects don't need, what they are by default.
TOLD_FIELDS: Mapping[str, Rule[Any]] = {item.name: item.metadata["rule"] for item in _TOLD}
CLEARABLE_TOLD_FIELDS = frozenset(item.name for item in _TOLD if item.default is None)
NOT_FOR_REDIRECTS: Mapping[str, Any] = {
    item.name: item.default for item in _TOLD if not item.metadata["redirects"]
}

"""A link with every field as JSON, as REST and the command line show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from backend.domain.fields.addresses.signed_addresses import is_signed
from backend.domain.fields.shapes import AnyObject, Count, TimeText, UuidText, json_of
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.limits import LIMIT_FIELDS
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS, CreatedBy, Link, LinkState
from backend.domain.links.tags import Tag, tags_on
from backend.domain.links.window_counts import NO_CLICKS, WindowCounts
from backend.domain.web.short_urls import ShortUrlForm

_NOTE_ON_SIGNATURE = (
    "adds_link_id is false, since the destination is signed and would refuse one more parameter: "
    "visits there are not attributed to the link"
)


# The limits that are shown as they are.
_LIMITS = frozenset(LIMIT_FIELDS) - {"password"}


# By a call: `if` is a word of Python.
_Rule = TypedDict("_Rule", {"if": AnyObject, "then": AnyObject})
_Rule.__doc__ = "What applies to a part of the visits."


class _Hold(TypedDict):
    """Since when and why."""

    at: TimeText
    why: str


class _Imported(TypedDict):
    """What another service had counted: it is in none of our own counts."""

    count: Count
    source: str
    imported_at: TimeText


class OwnLinkJson(TypedDict):
    """A link with its own fields, without what is counted of it."""

    id: UuidText
    external_id: Annotated[str | None, "Your own id of the link."]
    org_id: OrgId
    domain: str
    path: str
    short_url: str
    destination_url: str
    link_name: str
    is_enabled: bool
    is_archived: bool
    state: Annotated[str, f"What it does for visitors: {', '.join(LinkState)}; there may be more."]
    ios_behavior: Count
    android_behavior: Count
    utm_source: str | None
    utm_medium: str | None
    utm_campaign: str | None
    utm_term: str | None
    utm_content: str | None
    social_title: str | None
    social_description: str | None
    social_image_url: str | None
    ios_fallback_url: str | None
    android_fallback_url: str | None
    desktop_url: str | None
    custom_data: Annotated[AnyObject | None, "Your own data."]
    rules: Annotated[list[_Rule], "Its rules; the first one that applies decides."]
    forwards_path: Annotated[bool, "Whether what follows its path is passed on."]
    forwards_query: Annotated[list[str] | None, "The query parameters that are passed on; null: all."]
    adds_link_id: Annotated[bool, "Whether anything is added to its addresses."]
    query_precedence: Annotated[
        str | None, "Whose parameter arrives of equal names, destination or visitor; null: both."
    ]
    starts_at: Annotated[TimeText | None, "From when on it leads anywhere."]
    expires_at: Annotated[TimeText | None, "Until when it does."]
    max_clicks: Annotated[Count | None, "For how many clicks it does."]
    click_to_continue: Annotated[bool, "Whether a click is taken by a button on a page before."]
    expired_url: Annotated[str | None, "Where it leads who comes too late."]
    has_password: bool
    tags: Annotated[list[str], "The names of its tags; in an event those when it is read."]
    created_by: Annotated[str, f"{', '.join(CreatedBy)}; there may be more."]
    created_at: TimeText
    modified_at: TimeText
    archived_at: Annotated[TimeText | None, "When it was archived."]
    hold: Annotated[_Hold | None, "Whoever runs Waylink stopped it."]
    imported_clicks: Annotated[_Imported | None, "What another service had counted."]


class _Clicks(TypedDict):
    total: Count
    last_7_days: Count
    last_30_days: Count


class WholeLinkJson(OwnLinkJson):
    """A link with every field."""

    notes: NotRequired[Annotated[list[str], "What is special about it; absent where nothing is."]]
    clicks_left: Annotated[Count | None, "How many of max_clicks are left."]
    clicks: _Clicks


@dataclass(frozen=True, slots=True)
class LinkDetails:
    """What is shown of links besides their own fields: clicks, tags, and clicks taken from limits.

    A link that is not in `clicks` or `taken` has no clicks, or none were taken.
    """

    clicks: Mapping[LinkId, WindowCounts]
    tags: Mapping[TagId, Tag]
    taken: Mapping[LinkId, int]


def is_left_signed(link: Link) -> bool:
    """Whether nothing is added to the link's destination, which is signed."""
    return not link.adds_link_id and is_signed(link.destination_url)


def whole_link_json(link: Link, details: LinkDetails, form: ShortUrlForm, now: datetime) -> WholeLinkJson:
    """A link with every field, and its state at this time. A field that is not set is null."""
    most, taken = link.limits.max_clicks, details.taken.get(link.id, 0)
    tags = [tag.name for tag in tags_on(link.tag_ids, details.tags)]
    return json_of(
        WholeLinkJson,
        link,
        **_own_values(link, tags, form, now),
        **({"notes": [_NOTE_ON_SIGNATURE]} if is_left_signed(link) else {}),
        clicks_left=None if most is None else max(0, most - taken),
        clicks=details.clicks.get(link.id, NO_CLICKS),
    )


def own_link_json(link: Link, tags: Iterable[str], form: ShortUrlForm, now: datetime) -> OwnLinkJson:
    """A link with these tags and every field, except those that count its visitors."""
    return json_of(OwnLinkJson, link, **_own_values(link, tags, form, now))


def _own_values(link: Link, tags: Iterable[str], form: ShortUrlForm, now: datetime) -> dict[str, Any]:
    """The values of fields that are no attributes of the link."""
    return {
        "short_url": form.write(link.domain, link.path),
        "state": link.state_at(now),
        "tags": tags,
        "has_password": link.limits.password_hash is not None,
        **{name: getattr(link.limits, name) for name in _LIMITS},
        **{name: link.utm.get(name) for name in UTM_FIELDS},
        **{name: link.social.get(name) for name in SOCIAL_FIELDS},
        **{name: link.fallbacks.get(name) for name in FALLBACK_FIELDS},
    }

"""A link with every field as JSON, as REST and the command line show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.fields.json_times import time_json
from backend.domain.fields.signed_addresses import is_signed
from backend.domain.ids import LinkId, TagId
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS, ImportedClicks, Link
from backend.domain.links.tags import Tag, tags_on
from backend.domain.links.window_counts import NO_CLICKS, WindowCounts
from backend.domain.web.short_urls import ShortUrlForm

_NOTE_ON_SIGNATURE = (
    "adds_link_id is false, since the destination is signed and would refuse one more parameter: "
    "visits there are not attributed to the link"
)


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


def whole_link_json(link: Link, details: LinkDetails, form: ShortUrlForm, now: datetime) -> dict[str, Any]:
    """A link with every field, and its state at this time. A field that is not set is null."""
    clicks = details.clicks.get(link.id, NO_CLICKS)
    most, taken = link.limits.max_clicks, details.taken.get(link.id, 0)
    return {
        **own_link_json(link, [tag.name for tag in tags_on(link.tag_ids, details.tags)], form, now),
        **({"notes": [_NOTE_ON_SIGNATURE]} if is_left_signed(link) else {}),
        "clicks_left": None if most is None else max(0, most - taken),
        "clicks": {
            "total": clicks.total,
            "last_7_days": clicks.last_7_days,
            "last_30_days": clicks.last_30_days,
        },
    }


def own_link_json(link: Link, tags: Iterable[str], form: ShortUrlForm, now: datetime) -> dict[str, Any]:
    """A link with these tags and every field, except those that count its visitors."""
    return {
        "id": link.id,
        "external_id": link.external_id,
        "org_id": link.org_id,
        "domain": link.domain,
        "path": link.path,
        "short_url": form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "is_enabled": link.is_enabled,
        "is_archived": link.is_archived,
        "state": link.state_at(now),
        "ios_behavior": int(link.ios_behavior),
        "android_behavior": int(link.android_behavior),
        **{name: link.utm.get(name) for name in UTM_FIELDS},
        **{name: link.social.get(name) for name in SOCIAL_FIELDS},
        **{name: link.fallbacks.get(name) for name in FALLBACK_FIELDS},
        "custom_data": link.custom_data,
        "rules": link.rules,
        "forwards_path": link.forwards_path,
        "forwards_query": link.forwards_query,
        "adds_link_id": link.adds_link_id,
        "query_precedence": link.query_precedence,
        **_limits_json(link.limits),
        "tags": list(tags),
        "created_by": link.created_by,
        "created_at": time_json(link.created_at),
        "modified_at": time_json(link.modified_at),
        "archived_at": time_json(link.archived_at) if link.archived_at else None,
        "hold": {"at": time_json(link.hold.at), "why": link.hold.why} if link.hold else None,
        "imported_clicks": _imported_json(link.imported_clicks) if link.imported_clicks else None,
    }


def _limits_json(limits: LinkLimits) -> dict[str, Any]:
    return {
        "starts_at": time_json(limits.starts_at) if limits.starts_at else None,
        "expires_at": time_json(limits.expires_at) if limits.expires_at else None,
        "max_clicks": limits.max_clicks,
        "click_to_continue": limits.click_to_continue,
        "expired_url": limits.expired_url,
        "has_password": limits.password_hash is not None,
    }


def _imported_json(clicks: ImportedClicks) -> dict[str, Any]:
    """The clicks that another service had counted. They are in none of our own counts."""
    at = time_json(clicks.imported_at)
    return {"count": clicks.count, "source": clicks.source, "imported_at": at}

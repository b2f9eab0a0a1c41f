"""Links and counts as JSON in answers (contract, "Resources and their fields")."""

from __future__ import annotations

from typing import Any, TypedDict

from backend.domain.fields.shapes import Count, TimeText, json_of
from backend.domain.fields.times.json_times import seconds_json
from backend.domain.links.links import UTM_FIELDS, Link
from backend.domain.links.tags import Tag
from backend.domain.links.utm_templates import UtmTemplate
from backend.domain.links.window_counts import WindowCounts
from backend.domain.web.short_urls import ShortUrlForm


def link_json(link: Link, form: ShortUrlForm) -> dict[str, Any]:
    """The Link object of links/info and links/page, with exactly its eight fields."""
    return {
        "id": link.id,
        "short_url": form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "is_enabled": link.is_enabled,
        "createdTime": seconds_json(link.created_at),
        "modifiedTime": seconds_json(link.modified_at),
        "org_id": link.org_id,
    }


class TagJson(TypedDict):
    """A tag, and how many links have it."""

    name: str
    color: str
    links: Count
    created_at: TimeText


class UtmTemplateJson(TypedDict):
    """UTM fields that new links may begin with. A field that is not set is null."""

    name: str
    utm_source: str | None
    utm_medium: str | None
    utm_campaign: str | None
    utm_term: str | None
    utm_content: str | None
    created_at: TimeText


def tag_json(tag: Tag, links: int) -> TagJson:
    """A tag, and how many links have it."""
    return json_of(TagJson, tag, links=links)


def template_json(template: UtmTemplate) -> UtmTemplateJson:
    """A UTM template. A field that is not set is null."""
    utm = {name: template.utm.get(name) for name in UTM_FIELDS}
    return json_of(UtmTemplateJson, template, **utm)


def click_counts_json(counts: WindowCounts) -> dict[str, int]:
    """The Click analytics object of the contract."""
    return {
        "clicks_last_30_days": counts.last_30_days,
        "clicks_last_7_days": counts.last_7_days,
        "total_clicks": counts.total,
    }


def install_counts_json(counts: WindowCounts) -> dict[str, int]:
    """The Install analytics object of the contract."""
    return {
        "installs_last_30_days": counts.last_30_days,
        "installs_last_7_days": counts.last_7_days,
        "total_installs": counts.total,
    }

"""Links and counts as JSON in answers (contract, "Resources and their fields")."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from backend.domain.analytics import WindowCounts
from backend.domain.links import Link
from backend.domain.short_urls import ShortUrlForm


def link_json(link: Link, form: ShortUrlForm) -> dict[str, Any]:
    """The Link object of links/info and links/page, with exactly its eight fields."""
    return {
        "id": link.id,
        "short_url": form.write(link.domain, link.path),
        "destination_url": link.destination_url,
        "link_name": link.link_name,
        "is_enabled": link.is_enabled,
        "createdTime": _seconds(link.created_at),
        "modifiedTime": _seconds(link.modified_at),
        "org_id": link.org_id,
    }


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


def _seconds(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")

"""Duplicates of links."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from backend.domain.ids import LinkId
from backend.domain.links.input import NewLink, apply_changes
from backend.domain.links.links import CreatedBy, Link


def copy_link(
    link: Link, new: NewLink, path: str, *, link_id: LinkId, created_by: CreatedBy, now: datetime
) -> Link:
    """A new link at the domain of `new` and this path, like `link` but for the fields of `new`.

    It is enabled, and it has nothing of what is the link's alone: its external id and what was counted. A
    copy of a link on hold is on hold.
    """
    made = now.replace(microsecond=0)
    copy = replace(
        link,
        id=link_id,
        domain=new.domain,
        path=path,
        created_by=created_by,
        created_at=made,
        modified_at=made,
        is_enabled=True,
        external_id=None,
        imported_clicks=None,
        archived_at=None,
        was_enabled=False,
        limits=link.limits.with_taken(0),
    )
    return apply_changes(copy, new.fields, now)

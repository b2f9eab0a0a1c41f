"""Makes the facts of links for the feed. A fact has the link as it was then, since links change.

A fact has every stored field of the link except the hash of its password, and instead says whether the link
had one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from backend.domain.audit.differences import difference
from backend.domain.audit.entries import AuditTarget
from backend.domain.feed.changed_fields import changed_fields
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import Fact
from backend.domain.links.json_form import own_link_json
from backend.domain.links.links import Link
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.audit.acting import Acting
from backend.storage.audit.facts import recorded_fact
from backend.storage.links import links
from backend.storage.schema.audited import CHANGED

_HASH = "password_hash"
# What the audit log need not say: it names the link and the time.
_SAID = {"id", "org_id", "short_url", "state", "modified_at", "created_at", "archived_at"}


def created_fact(link: Link, at: datetime) -> Fact:
    """The fact that the link was created."""
    return _fact(EventType.LINK_CREATED, link, at, [])


def changed_fact(before: Link, after: Link, at: datetime) -> Fact:
    """The fact that the link was changed, or archived if `after` is archived and `before` is not."""
    is_archived = after.is_archived and not before.is_archived
    type_ = EventType.LINK_ARCHIVED if is_archived else EventType.LINK_CHANGED
    return _fact(type_, after, at, changed_fields(before, after, at))


def purged_fact(link: Link, at: datetime) -> Fact:
    """The fact that the link was deleted for good. `link` is its last state."""
    return _fact(EventType.LINK_ARCHIVED, link, at, []) | {"purged": True}


def audit_of_creation(link: Link, at: datetime, who: Acting) -> Fact:
    """The entry of the audit log for a new link."""
    return recorded_fact(
        "link.created", _target(link), *difference(None, _values(link, at), {_HASH}), who=who
    )


def audit_of_change(before: Link, after: Link, at: datetime, who: Acting) -> Fact:
    """The entry of the audit log for a changed link."""
    old, new = difference(_values(before, at), _values(after, at), {_HASH})
    return recorded_fact(f"link.{_verb(before, after)}", _target(after), old, new, who=who)


def audit_of_purge(link: Link, at: datetime, who: Acting) -> Fact:
    """The entry of the audit log for a link that is deleted for good."""
    return recorded_fact("link.purged", _target(link), *difference(_values(link, at), None, {_HASH}), who=who)


def _verb(before: Link, after: Link) -> str:
    if before.is_archived != after.is_archived:
        return "archived" if after.is_archived else "restored"
    if bool(before.hold) != bool(after.hold):
        return "held" if after.hold else "released"
    return CHANGED


def _target(link: Link) -> AuditTarget:
    return AuditTarget("link", link.id, f"{link.domain}/{link.path}")


def _values(link: Link, at: datetime) -> dict[str, Any]:
    """The link's fields by the names of the REST API, and the hash of its password."""
    shown = own_link_json(link, link.tag_ids, ShortUrlForm(), at)
    values = {name: value for name, value in shown.items() if name not in _SAID}
    return values | {_HASH: link.limits.password_hash}


def _fact(type_: EventType, link: Link, at: datetime, changed: Sequence[str]) -> Fact:
    stored = links.to_document(link)
    fact: Fact = {"type": type_.value, "at": at, "link": stored, "changed": changed}
    if _HASH in stored["limits"]:
        stored["limits"] = {name: value for name, value in stored["limits"].items() if name != _HASH}
        fact["has_password"] = True
    return fact

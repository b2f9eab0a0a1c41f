"""The fields of a link that a change has changed, by the names that readers of a feed see."""

from __future__ import annotations

from datetime import datetime

from backend.domain.links.input import is_same
from backend.domain.links.json_form import own_link_json
from backend.domain.links.links import Link
from backend.domain.web.short_urls import ShortUrlForm

# Every change sets this field, and every event has its time.
_ALWAYS = "modified_at"


def changed_fields(before: Link, after: Link, at: datetime) -> list[str]:
    """The names of the fields that a change at this time has changed, as `own_link_json` names them.

    `state` is among them if the state has changed. `has_password` is among them also if another password
    replaced the one before, and `tags` also if only ids of deleted tags were removed.
    """
    was, is_now = (own_link_json(link, link.tag_ids, ShortUrlForm(), at).items() for link in (before, after))
    changed = {name for (name, old), (_, new) in zip(was, is_now, strict=True) if not is_same(old, new)}
    changed.discard(_ALWAYS)
    if before.limits.password_hash != after.limits.password_hash:
        changed.add("has_password")
    if before.limits.is_used_up != after.limits.is_used_up:
        changed.add("state")
    return sorted(changed)

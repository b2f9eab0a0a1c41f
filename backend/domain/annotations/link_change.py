"""Changes of links as charts show them: facts of the feed, in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from backend.domain.feed.events import EventType
from backend.domain.fields.filled_text import fill

# What people call the fields of a link, as `changed_fields` names these.
FIELD_WORDS: Mapping[str, str] = {
    "destination_url": "destination",
    "link_name": "name",
    "is_enabled": "enabled or disabled",
    "is_archived": "taken out of the archive",
    "ios_behavior": "what iOS opens",
    "android_behavior": "what Android opens",
    "utm_source": "UTM source",
    "utm_medium": "UTM medium",
    "utm_campaign": "UTM campaign",
    "utm_term": "UTM term",
    "utm_content": "UTM content",
    "social_title": "preview title",
    "social_description": "preview description",
    "social_image_url": "preview image",
    "ios_fallback_url": "iOS without the app",
    "android_fallback_url": "Android without the app",
    "desktop_url": "desktop destination",
    "starts_at": "start",
    "expires_at": "end",
    "max_clicks": "click limit",
    "click_to_continue": "click to continue",
    "expired_url": "destination after the end",
    "has_password": "password",
    "hold": "stopped or released by the operator",
    "short_url": "short URL",
    "external_id": "external id",
}
# They follow from other fields that have changed.
_FOLLOW = frozenset({"state", "archived_at", "short_url"})


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link was created, changed or archived (`type`); `changed` are the names of its changed fields."""

    at: datetime
    type: EventType
    changed: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ChangeWording:
    """How a language tells changes of a link, with words in braces that are filled in."""

    made: str = "link made"
    changed: str = "link changed: {fields}"
    changed_often: str = "link changed {count} times: {fields}"
    archived: str = "link archived"
    nothing: str = "nothing that is shown"


_ENGLISH = ChangeWording()


def changes_in_words(
    changes: Sequence[LinkChange],
    wording: ChangeWording = _ENGLISH,
    fields: Mapping[str, str] = FIELD_WORDS,
) -> str:
    """One sentence, without its full stop, for the changes of a link in a part of the time.

    At least one is needed. Fields are named once, in the order in which they were changed first; one that
    `fields` has no name for is called by its own.
    """
    sentences = []
    if any(change.type is EventType.LINK_CREATED for change in changes):
        sentences.append(wording.made)
    if changed := [change for change in changes if change.type is EventType.LINK_CHANGED]:
        text = wording.changed if len(changed) == 1 else wording.changed_often
        names = ", ".join(_names(changed, fields) or [wording.nothing])
        sentences.append(fill(text, {"count": f"{len(changed):,}", "fields": names}))
    if any(change.type is EventType.LINK_ARCHIVED for change in changes):
        sentences.append(wording.archived)
    words = "; ".join(sentences)
    return words[:1].upper() + words[1:]


def _names(changes: Sequence[LinkChange], fields: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys(name for change in changes for name in change.changed)
    telling = [name for name in names if name not in _FOLLOW] or list(names)
    return [fields.get(name, name.replace("_", " ")) for name in telling]

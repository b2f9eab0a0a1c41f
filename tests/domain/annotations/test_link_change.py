"""Changes of links in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from backend.domain.annotations.link_change import LinkChange, changes_in_words
from backend.domain.feed.events import EventType

NOW = datetime(2026, 3, 2, tzinfo=UTC)


def changed(*names: str) -> LinkChange:
    """A change of these fields."""
    return LinkChange(NOW, EventType.LINK_CHANGED, names)


MADE = LinkChange(NOW, EventType.LINK_CREATED)
ARCHIVED = LinkChange(NOW, EventType.LINK_ARCHIVED, ["archived_at", "is_archived", "state"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([changed("destination_url", "rules")], "Link changed: destination, rules"),
        ([changed("is_enabled", "state")], "Link changed: enabled or disabled"),
        ([changed("state")], "Link changed: state"),
        (
            [changed("rules"), changed("rules", "tags"), changed("destination_url")],
            "Link changed 3 times: rules, tags, destination",
        ),
        ([MADE, changed("rules"), ARCHIVED], "Link made; link changed: rules; link archived"),
    ],
)
def test_changes_in_words(changes: list[LinkChange], words: str) -> None:
    """Many become one sentence, which names each field once, and not those that follow from others."""
    assert changes_in_words(changes) == words

"""When a link was created, changed and archived, by the facts of the feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.annotations.link_change import LinkChange
from backend.domain.clicks.block import moment
from backend.domain.feed.events import EventType
from backend.domain.ids import LinkId
from backend.storage.analytics.question import Facts, Question

MOST_CHANGES = 1_000
_LATEST = """
SELECT "at", type, changed FROM link_changes
WHERE link IN (SELECT link FROM links WHERE id = $link AND is_kept)
    AND ($start IS NULL OR "at" >= $start) AND ($end IS NULL OR "at" < $end)
ORDER BY place DESC, number DESC LIMIT $most
"""


@dataclass(frozen=True, slots=True)
class LinkChanges(Question[list[LinkChange]]):
    """The link's latest changes from `start` up to, but not including, `end`, the oldest first.

    None for `start` or `end`: since ever, until now. A link that was deleted for good has none.
    """

    link_id: LinkId
    start: datetime | None = None
    end: datetime | None = None
    most: int = MOST_CHANGES

    def answer(self, facts: Facts) -> list[LinkChange]:
        """The changes."""
        values = {
            "link": self.link_id,
            "start": _milliseconds(self.start),
            "end": _milliseconds(self.end),
            "most": self.most,
        }
        rows = facts.connection.execute(_LATEST, values).fetchall()
        return [LinkChange(moment(at), EventType(kind), changed) for at, kind, changed in reversed(rows)]


def _milliseconds(at: datetime | None) -> int | None:
    return None if at is None else round(at.timestamp() * 1000)

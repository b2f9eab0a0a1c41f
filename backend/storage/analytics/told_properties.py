"""The properties that events have, for who chooses which of them to mark."""

from __future__ import annotations

from dataclasses import dataclass

from backend.storage.analytics.question import Facts, Question

# Whoever has sites tell thousands of names finds no choice in a list of them.
_MOST = 50
_TOLD = """
    SELECT name, count(*) AS events FROM (SELECT unnest(map_keys(metadata)) AS name FROM records)
    GROUP BY name ORDER BY events DESC, name LIMIT $most
"""


@dataclass(frozen=True, slots=True)
class ToldProperties(Question[dict[str, int]]):
    """How many events have each property, most first: the most frequent ones."""

    def answer(self, facts: Facts) -> dict[str, int]:
        """The numbers of events by name."""
        return dict(facts.connection.execute(_TOLD, {"most": _MOST}).fetchall())

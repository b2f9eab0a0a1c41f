"""Names that are told: properties of events, for who chooses which to mark, and campaigns of costs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.costs.unknown_campaigns import unknown_campaigns, unknown_words
from backend.domain.ids import OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import Facts, FactsNotReady, NoAnswer, Question

# Whoever has sites tell thousands of names finds no choice in a list of them.
_MOST = 50
_TOLD = """
    SELECT name, count(*) AS events FROM (SELECT unnest(map_keys(metadata)) AS name FROM records)
    GROUP BY name ORDER BY events DESC, name LIMIT $most
"""
# A campaign is known by a link that is kept, or by the address of a visit.
_KNOWN = """
    SELECT campaign FROM links WHERE is_kept AND campaign IS NOT NULL
    UNION SELECT campaign FROM visits WHERE campaign IS NOT NULL
    UNION SELECT campaign FROM record_visits WHERE campaign IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class ToldProperties(Question[dict[str, int]]):
    """How many events have each property, most first: the most frequent ones."""

    def answer(self, facts: Facts) -> dict[str, int]:
        """The numbers of events by name."""
        return dict(facts.connection.execute(_TOLD, {"most": _MOST}).fetchall())


@dataclass(frozen=True, slots=True)
class UnknownCampaigns(Question[dict[str, str | None]]):
    """Those of the named campaigns that no link and no visit has, each with one that it is like, if any."""

    named: Sequence[str]

    def answer(self, facts: Facts) -> dict[str, str | None]:
        """The unknown campaigns."""
        known = {name for (name,) in facts.connection.execute(_KNOWN).fetchall()}
        return unknown_campaigns(self.named, known)


async def say_unknown(analytics: Analytics, org_id: OrgId, campaigns: Iterable[str]) -> dict[str, str]:
    """What is said of those of these campaigns that no link and no visit has.

    Without facts at hand, nothing is.
    """
    question = UnknownCampaigns(list(dict.fromkeys(campaigns)))
    try:
        found = await analytics.ask(org_id, question)
    except (FactsNotReady, NoAnswer):
        return {}
    return {name: unknown_words(closest) for name, closest in found.items()}

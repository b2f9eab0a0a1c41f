"""The latest requests for a link, and the first day of an organization."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from backend.domain.clicks.block import moment
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.destinations.destination import Outcome
from backend.storage.analytics.question import Facts, Question

MOST_CLICKS = 100
_LATEST = """
SELECT "at", reason, outcome, platform, system, browser, kind, country, referrer, variant FROM clicks
WHERE link IN (SELECT link FROM links WHERE id = $link) AND "at" >= $since
    AND kind IS NOT NULL -- those that are added up have none
ORDER BY "at" DESC, block DESC LIMIT $most
"""


@dataclass(frozen=True, slots=True)
class LatestClicks(Question[list[Click]]):
    """The latest requests for the link, counted or not, the newest first; `since`: only those from then on.

    Days whose single clicks have expired have none.
    """

    org_id: OrgId
    link_id: LinkId
    since: datetime | None = None
    most: int = MOST_CLICKS

    def answer(self, facts: Facts) -> list[Click]:
        """The requests."""
        since = 0 if self.since is None else round(self.since.timestamp() * 1000)
        values = {"link": self.link_id, "since": since, "most": self.most}
        return [self._click(*row) for row in facts.connection.execute(_LATEST, values).fetchall()]

    def _click(self, at: int, reason: str | None, outcome: str, *rest: str) -> Click:
        platform, system, browser, kind, country, referrer, variant = rest
        return Click(
            self.org_id, self.link_id, moment(at), reason is None, reason, Outcome(outcome), platform, system,
            browser, kind, country, referrer, None, variant,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FirstDay(Question[date | None]):
    """The first day in UTC on which somebody asked for one of the organization's links; None: nobody did."""

    def answer(self, facts: Facts) -> date | None:
        """The day."""
        first = facts.connection.execute('SELECT min("at") FROM clicks').fetchone()
        return moment(first[0]).date() if first and first[0] is not None else None

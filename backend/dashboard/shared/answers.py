"""The answers to the queries of shared reports, each kept for a while: anyone may ask, and often."""

from __future__ import annotations

import json
from dataclasses import dataclass

from backend.concurrency.timed_cache import TimedCache
from backend.dashboard.shared.asking import ReportAnswer, ask_view
from backend.domain.ids import OrgId
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind, read_view
from backend.storage.accounts.organizations import UnknownOrganization, get_organization
from backend.storage.driver.deadlines import lift_deadline
from backend.web.current import Resources


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for a report. Reports that ask the same share an answer; a changed report asks anew."""

    org_id: OrgId
    kind: ViewKind
    query: str
    shows_revenue: bool
    has_subscription: bool


class _Answers(TimedCache[_Asked, ReportAnswer]):
    LIFETIME = 30.0
    CAPACITY = 100  # of up to a thousand rows


class ReportAnswers:
    """Answers what reports ask. Whoever loads a report again and again has the question asked seldom."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answers = _Answers(self._ask)

    async def answer(self, report: Report) -> ReportAnswer | None:
        """What the report shows; None if its organization does not exist any more.

        Raises InvalidField if the query can't be answered any more, and StorageError.
        """
        try:
            organization = await get_organization(self._resources.database, report.org_id)
        except UnknownOrganization:
            return None
        has_subscription = organization.has_subscription(self._resources.clock())
        query, shows_revenue = json.dumps(report.query), report.shows_revenue
        return await self._answers.get(
            _Asked(report.org_id, report.kind, query, shows_revenue, has_subscription)
        )

    async def stop(self) -> None:
        """Give up what is being asked."""
        await self._answers.stop()

    async def _ask(self, asked: _Asked) -> ReportAnswer:
        lift_deadline()  # which is that of the request that came first
        view = read_view(
            asked.kind,
            json.loads(asked.query),
            self._resources.clock(),
            shows_revenue=asked.shows_revenue,
            has_subscription=asked.has_subscription,
        )
        return await ask_view(
            self._resources.analytics, asked.org_id, view, shows_revenue=asked.shows_revenue
        )

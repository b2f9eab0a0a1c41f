"""The answers to the queries of shared reports, each kept for a while: anyone may ask, and often."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, replace

from backend.concurrency.timed_cache import TimedCache
from backend.dashboard.shared.asking import ReportAnswer, ask_view
from backend.domain.ids import OrgId
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind, read_view
from backend.storage.accounts.organizations import UnknownOrganization, get_organization
from backend.storage.driver.deadlines import lift_deadline
from backend.storage.reports.noted import read_noted_of
from backend.web.current import Resources

# How old what Live shows may be. Everybody who watches shares an answer, so it is asked that often at most.
LIVE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked for a report. Reports that ask the same share an answer; a changed report asks anew."""

    org_id: OrgId
    kind: ViewKind
    query: str
    shows_revenue: bool
    shows_notes: bool
    has_subscription: bool


class _Answers(TimedCache[_Asked, ReportAnswer]):
    LIFETIME = 30.0
    CAPACITY = 8_000_000  # bytes: of a thousand rows with long texts, a handful of answers

    def size_of(self, value: ReportAnswer) -> int:
        """About the bytes that it takes."""
        return len(pickle.dumps(value))


class _LiveAnswers(_Answers):
    LIFETIME = LIVE_SECONDS


class ReportAnswers:
    """Answers what reports ask. Whoever loads a report again and again has the question asked seldom."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answers, self._live = _Answers(self._ask), _LiveAnswers(self._ask)

    async def answer(self, report: Report) -> ReportAnswer | None:
        """What the report shows; None if its organization does not exist any more.

        Raises InvalidField if the query can't be answered any more, and StorageError.
        """
        try:
            organization = await get_organization(self._resources.database, report.org_id)
        except UnknownOrganization:
            return None
        has_subscription = organization.has_subscription(self._resources.clock())
        answers = self._live if report.kind is ViewKind.LIVE else self._answers
        return await answers.get(
            _Asked(
                report.org_id,
                report.kind,
                json.dumps(report.query),
                report.shows_revenue,
                report.shows_notes,
                has_subscription,
            )
        )

    async def stop(self) -> None:
        """Give up what is being asked."""
        await self._answers.stop()
        await self._live.stop()

    async def _ask(self, asked: _Asked) -> ReportAnswer:
        lift_deadline()  # which is that of the request that came first
        now = self._resources.clock()
        view = read_view(
            asked.kind,
            json.loads(asked.query),
            now,
            shows_revenue=asked.shows_revenue,
            has_subscription=asked.has_subscription,
        )
        database, analytics = self._resources.database, self._resources.analytics
        shows_revenue = asked.shows_revenue
        answer = await ask_view(database, analytics, asked.org_id, view, now, shows_revenue=shows_revenue)
        if asked.shows_notes and view.has_course:
            return replace(
                answer, notes=await read_noted_of(database, analytics, asked.org_id, view.queries[0])
            )
        return answer

"""What alert rules look at, and what they find there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from backend.domain.alerts import findings
from backend.domain.alerts.finding import AlertCause, Preview
from backend.domain.alerts.hourly import HOUR, WEEK_HOURS, WEEKS, HourlyCounts
from backend.domain.alerts.rule import BY_HOUR, AlertKind, AlertRule
from backend.domain.alerts.thresholds import DAYS_BEFORE
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, FieldFilters, Query
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.links import Link
from backend.storage.accounts.domains import list_domains
from backend.storage.accounts.organizations import get_organization
from backend.storage.accounts.origin_refusals import list_origin_refusals
from backend.storage.accounts.rate_limited_requests import rate_limited_on
from backend.storage.alerts.alerts import open_alerts
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.destinations.broken import list_broken
from backend.storage.links.links import NAME as LINKS
from backend.storage.links.links import find_link, from_document
from backend.storage.links.tags import find_tag_by_id
from backend.storage.links.taken_clicks import count_taken
from backend.storage.visitors.rejections import list_rejections

# The most links that are held at a time, and broken ones of a rule that are told of.
MOST_LINKS = 1_000
PREVIEW = timedelta(days=7)
# The weeks that are compared with, what is judged, and as long again as a drop may need.
_COUNTED_HOURS = WEEKS * WEEK_HOURS + findings.JUDGED_HOURS + WEEK_HOURS
_Scope = tuple[LinkId | None, TagId | None]
_EXACT = ""
_AS_IT_IS_NOW = "This shows what holds now: what held in between and is over was not kept."
_LATEST_REFUSALS = "Only the latest hundred refused requests are kept, so that there may have been more."


class AlertSources:
    """What the rules of one organization find. What several rules look at is read once."""

    def __init__(self, database: Database, analytics: Analytics, org_id: OrgId, now: datetime) -> None:
        self._database = database
        self._analytics = analytics
        self._org_id = org_id
        self._now = now
        self._counts: dict[_Scope, HourlyCounts | None] = {}

    async def found(self, rule: AlertRule) -> list[AlertCause]:
        """What the rule finds now. Raises StorageError, also while figures are made anew."""
        return await self._finders[rule.kind](rule)

    async def preview(self, rule: AlertRule) -> Preview:
        """What the rule would have told of in the last seven days. Raises StorageError."""
        since = self._now - PREVIEW
        if rule.kind in BY_HOUR:
            found = await self._by_hour(rule, WEEK_HOURS)
            return Preview(tuple(found), _EXACT)
        if rule.kind is AlertKind.LINK_EXPIRY:
            ends = since, self._now + timedelta(days=rule.thresholds[DAYS_BEFORE])
            told = [
                finding
                for link in await self._expiring(rule, *ends)
                for finding in findings.expiries_of(rule, link)
                if since < finding.began_at <= self._now
            ]
            return Preview(tuple(sorted(told, key=lambda finding: finding.began_at)), _EXACT)
        found = [finding for finding in await self.found(rule) if finding.began_at > since]
        if rule.kind is AlertKind.REFUSED_SITES:
            return Preview(tuple(found), _LATEST_REFUSALS)
        return Preview(tuple(found), _AS_IT_IS_NOW)

    @property
    def _finders(self) -> Mapping[AlertKind, Callable[[AlertRule], Awaitable[list[AlertCause]]]]:
        return {
            AlertKind.SPIKE: self._by_hour,
            AlertKind.DROP: self._by_hour,
            AlertKind.BROKEN_DESTINATION: self._broken,
            AlertKind.LINK_EXPIRY: self._expiries,
            AlertKind.LIMITS: self._limits,
            AlertKind.REFUSED_SITES: self._refused,
            AlertKind.REJECTED_CALLS: self._rejected,
        }

    async def _by_hour(self, rule: AlertRule, hours: int = findings.JUDGED_HOURS) -> list[AlertCause]:
        scope = rule.link_id, rule.tag_id
        if scope not in self._counts:
            self._counts[scope] = await self._hourly_counts(*scope)
        counts = self._counts[scope]
        if counts is None:
            return []
        found = findings.found_by_hour(rule, counts, hours)
        if rule.kind is AlertKind.DROP and not found:
            opened = await open_alerts(self._database, rule.id)
            return findings.lasting_drops(opened, counts)
        return found

    async def _hourly_counts(self, link_id: LinkId | None, tag_id: TagId | None) -> HourlyCounts | None:
        """The clicks by the hour up to now; None where the link or the tag is gone."""
        filters: FieldFilters = {}
        if link_id:
            link = await find_link(self._database, link_id, self._org_id)
            made, filters = link.created_at if link else None, {Field.LINK: frozenset({link_id})}
        elif tag_id:
            tag = await find_tag_by_id(self._database, self._org_id, tag_id)
            made, filters = tag.created_at if tag else None, {Field.TAG: frozenset({tag.name if tag else ""})}
        else:
            made = (await get_organization(self._database, self._org_id)).created_at
        if made is None:
            return None
        this_hour = self._now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        start = this_hour + HOUR - _COUNTED_HOURS * HOUR
        period = QueryPeriod(start, this_hour + HOUR, UTC)
        query = Query(period=period, group_by=(Field.HOUR,), filters=filters)
        answer = await self._analytics.ask(self._org_id, AskQuery(query, is_whole=True))
        counts = [0] * _COUNTED_HOURS
        for row in answer.rows:
            if row.group[0]:
                clicks = row.values[query.measures[0]]
                assert isinstance(clicks, int)
                counts[(datetime.fromisoformat(row.group[0]) - start) // HOUR] = clicks
        # Links and tags may be younger than their clicks, where these were imported or tagged later.
        first = next((start + at * HOUR for at, count in enumerate(counts) if count), made)
        return HourlyCounts(start, counts, min(made, first), is_last_partial=True)

    async def _broken(self, rule: AlertRule) -> list[AlertCause]:
        broken = [
            (row.link, destination.field, destination.url, destination.problem, destination.since)
            for row in await list_broken(
                self._database, self._org_id, MOST_LINKS, lambda link: rule.covers(link.id, link.tag_ids)
            )
            for destination in row.broken
        ]
        return findings.found_broken(rule, broken)

    async def _expiries(self, rule: AlertRule) -> list[AlertCause]:
        links = await self._expiring(rule, *findings.expiry_window(rule, self._now))
        return [
            replace(finding, ended_at=None) for finding in findings.found_expiring(rule, links, self._now)
        ]

    async def _expiring(self, rule: AlertRule, after: datetime, until: datetime) -> list[Link]:
        found = self._links(rule, {"limits.expires_at": {"$gt": after, "$lte": until}})
        return [link async for some in found for link in some]

    async def _limits(self, rule: AlertRule) -> list[AlertCause]:
        domains = await list_domains(self._database, self._org_id)
        links = self._links(rule, {"domain": {"$in": domains}, "limits.max_clicks": {"$gt": 0}})
        found: list[AlertCause] = []
        async for some in links:
            taken = await count_taken(self._database, [link.id for link in some])
            found += findings.found_limits(rule, some, taken, self._now)
        refused = await rate_limited_on(self._database, self._org_id, self._now.date())
        rows = [(counted.limit, counted.requests, counted.last) for counted in refused]
        return found + findings.found_rate_limited(rule, rows)

    async def _links(self, rule: AlertRule, condition: Document) -> AsyncIterator[list[Link]]:
        """The enabled links that the rule is about and that match this condition, so many at a time."""
        query: Document = {"org_id": self._org_id, "is_enabled": True, "archived_at": None, **condition}
        if rule.link_id:
            query["_id"] = rule.link_id
        if rule.tag_id:
            query["tag_ids"] = rule.tag_id
        cursor = self._database[LINKS].find(query)
        while documents := await cursor.to_list(MOST_LINKS):
            yield list(map(from_document, documents))

    async def _refused(self, rule: AlertRule) -> list[AlertCause]:
        refusals = await list_origin_refusals(self._database, self._org_id)
        rows = [(refusal.origin, refusal.reason, refusal.at) for refusal in refusals]
        return findings.found_refused(rule, rows, self._now)

    async def _rejected(self, rule: AlertRule) -> list[AlertCause]:
        counted = await list_rejections(self._database, self._org_id)
        rows = [
            (
                count.rejection.kind,
                count.rejection.field,
                count.rejection.rule,
                count.calls_of_day,
                count.last,
            )
            for count in counted
        ]
        return findings.found_rejected(rule, rows, self._now)

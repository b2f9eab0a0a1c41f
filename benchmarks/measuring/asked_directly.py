"""Questions of analytics, each with what asks DuckDB the same directly, which is the limit of its speed.

The SQL is what somebody would write who knows the tables and has nothing else to think of.
"""

# ruff: noqa: S608 - our own words, and values are parameters

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Query
from backend.domain.clicks.rows import RowFormat
from backend.domain.ids import LinkId
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.analytics.clicks.click_windows import ClickWindow
from backend.storage.analytics.files import FileQuestion
from backend.storage.analytics.query_file import QueryFile
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.question import Question
from benchmarks.data.kept_year import Year

_DAY = timedelta(days=1)
_AUCKLAND = "Pacific/Auckland"
_COUNTED = 'reason IS NULL AND "at" >= $start AND "at" < $end'
_BY_LINK = f"SELECT link, sum(weight)::BIGINT AS clicks FROM clicks WHERE {_COUNTED} GROUP BY link"
_MOST_FIRST = "ORDER BY clicks DESC LIMIT 100"


@dataclass(frozen=True, slots=True)
class AskedDirectly:
    """A question, or one for a file of all rows, and the same in SQL."""

    question: Question[Any] | FileQuestion
    sql: str
    values: dict[str, object] = field(default_factory=dict)


def questions(year: Year, link_id: LinkId) -> dict[str, AskedDirectly]:
    """The questions by what they ask for."""
    all_year, weeks = (QueryPeriod(year.until - days * _DAY, year.until, UTC) for days in (365, 28))
    by_campaign = f"SELECT campaign, sum(clicks)::BIGINT AS clicks FROM ({_BY_LINK}) JOIN links USING (link)"
    return {
        "a year by campaign": _page(
            all_year, (Field.CAMPAIGN,), f"{by_campaign} WHERE is_kept GROUP BY campaign {_MOST_FIRST}"
        ),
        "4 weeks by link, first 100": _page(
            weeks,
            (Field.LINK,),
            f"SELECT id, domain, path, link_name, clicks FROM ({_BY_LINK} {_MOST_FIRST}) "
            "JOIN links USING (link) WHERE is_kept ORDER BY clicks DESC",
        ),
        "4 weeks by campaign, exact visitors": _page(
            weeks,
            (Field.CAMPAIGN,),
            f"""
            SELECT campaign, count(DISTINCT "at" // 86400000 * 4294967296 + visitor) AS clicks
            FROM clicks JOIN links USING (link) WHERE is_kept AND {_COUNTED} GROUP BY campaign {_MOST_FIRST}
            """,
            measures=(Measure.VISITORS,),
        ),
        "4 weeks by day in Auckland": _in_auckland(year),
        "a link's clicks, of 30 and 7 days": _windows(year, link_id),
        "a year by day and campaign, all rows": _whole(
            all_year,
            (Field.DAY, Field.CAMPAIGN),
            f"""
            SELECT "at" // 86400000 AS day, campaign, sum(weight)::BIGINT AS clicks
            FROM clicks JOIN links USING (link) WHERE is_kept AND {_COUNTED} GROUP BY ALL
            ORDER BY day, campaign
            """,
        ),
        "a year by country, browser, campaign, all rows": _whole(
            all_year,
            (Field.COUNTRY, Field.BROWSER, Field.CAMPAIGN),
            f"""
            SELECT country, browser, campaign, sum(weight)::BIGINT AS clicks
            FROM clicks JOIN links USING (link) WHERE is_kept AND {_COUNTED} GROUP BY ALL
            ORDER BY clicks DESC
            """,
        ),
    }


def _page(
    period: QueryPeriod,
    group_by: tuple[Field, ...],
    sql: str,
    measures: tuple[Measure, ...] = (Measure.CLICKS,),
) -> AskedDirectly:
    query = Query(period=period, group_by=group_by, measures=measures)
    return AskedDirectly(AskQuery(query), sql, _times(period))


def _whole(period: QueryPeriod, group_by: tuple[Field, ...], sql: str) -> AskedDirectly:
    query = Query(period=period, group_by=group_by)
    return AskedDirectly(QueryFile(query, ShortUrlForm(), RowFormat.CSV), sql, _times(period))


def _in_auckland(year: Year) -> AskedDirectly:
    zone = ZoneInfo(_AUCKLAND)
    end = year.until.astimezone(zone).replace(hour=0)
    start = (end.replace(tzinfo=None) - 28 * _DAY).replace(tzinfo=zone)
    period = QueryPeriod(start.astimezone(UTC), end.astimezone(UTC), zone)
    sql = f"""
        SELECT strftime(timezone('{_AUCKLAND}', make_timestamptz("at" * 1000)), '%Y-%m-%d') AS day,
            sum(weight)::BIGINT AS clicks
        FROM clicks WHERE {_COUNTED} GROUP BY day ORDER BY day
    """
    return _page(period, (Field.DAY,), sql)


def _windows(year: Year, link_id: LinkId) -> AskedDirectly:
    sql = """
        SELECT sum(weight)::BIGINT, (sum(weight) FILTER ("at" >= $long))::BIGINT,
            (sum(weight) FILTER ("at" >= $short))::BIGINT
        FROM clicks WHERE reason IS NULL AND link = (SELECT link FROM links WHERE id = $id)
    """
    long, short = (_ms(QueryPeriod(year.until - days * _DAY, year.until, UTC))[0] for days in (30, 7))
    return AskedDirectly(ClickWindow(link_id, year.until), sql, {"id": link_id, "long": long, "short": short})


def _times(period: QueryPeriod) -> dict[str, object]:
    start, end = _ms(period)
    return {"start": start, "end": end}


def _ms(period: QueryPeriod) -> tuple[int, int]:
    return round(period.start.timestamp() * 1000), round(period.end.timestamp() * 1000)

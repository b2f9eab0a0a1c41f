"""Clicks, requests that do not count, and visitors, by what a query asks for."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, TIMES, Field, Measure
from backend.storage.analytics.conditions.asked import DAY_MS, Asked, grouped_by
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.conditions.links import asked_links, link_column, link_groups
from backend.storage.analytics.conditions.times import TimeColumns

_SUMS = {
    Measure.CLICKS: "(sum(weight) FILTER (reason IS NULL))::BIGINT AS clicks",
    Measure.NOT_COUNTED: "(sum(weight) FILTER (reason IS NOT NULL))::BIGINT AS not_counted",
}
# A visitor's hash, of 32 bits, tells visitors of one day in UTC apart: the day is put before it.
_WHO = "{day} * 4294967296 + visitor AS who"


def clicks_of(asked: Asked, given: Given, more: str = "") -> str:
    """A SELECT of `clicks` and `not_counted` of each group that has any. `more` is a condition for clicks."""
    asks = [each for each in _SUMS if each in asked.query.needed]
    only = [f"reason IS {'NOT ' * (asks[0] is Measure.NOT_COUNTED)}NULL"] if len(asks) == 1 else []
    times = TimeColumns(asked, "clicks.at", given)
    columns = _counted_by(asked, times)
    is_event = bool(asked.group_by) and not columns  # no row of nothing
    counted = f"""
        SELECT {", ".join([*columns, *(_SUMS[each] for each in asks)])}
        FROM clicks {times.join} {_join_links(asked)}
        WHERE {" AND ".join([*_conditions(asked, given), *only, *([more] if more else [])])}
        GROUP BY ALL {"HAVING count(*) > 0" * is_event}
    """
    if Field.TAG in asked.group_by:  # a link with several tags counts in several rows
        return _shown(asked, given, counted, [f"sum({each})::BIGINT AS {each}" for each in asks])
    return _shown(asked, given, counted, [*asks], is_grouped=False)


def visitors_of(asked: Asked, given: Given) -> str:
    """A SELECT of `visitors` of each group that has any."""
    times = TimeColumns(asked, "clicks.at", given)
    who = _WHO.format(day=f"(clicks.at // {DAY_MS})")
    conditions = [*_conditions(asked, given), "reason IS NULL", "visitor IS NOT NULL"]
    seen = f"""
        SELECT DISTINCT {", ".join([*_counted_by(asked, times), who])}
        FROM clicks {times.join} {_join_links(asked)} WHERE {" AND ".join(conditions)}
    """
    if knows_former_visitors(asked):
        seen += f" UNION {_former_visitors(asked, given)}"
    distinct = "DISTINCT " * (Field.TAG in asked.group_by)
    return _shown(asked, given, seen, [f"count({distinct}who) AS visitors"])


def knows_former_visitors(asked: Asked) -> bool:
    """Whether visitors count whose single clicks have expired: they are known by day and link only."""
    if asked.summed_until is None or asked.summed_until < asked.start // DAY_MS:
        return False
    if Field.VARIANT in asked.query.fields or Field.HOUR in asked.group_by:
        return False
    return CLICK_FIELDS.isdisjoint((*asked.group_by, *asked.query.filters))


def _former_visitors(asked: Asked, given: Given) -> str:
    """The visitors of days whose single clicks have expired. Each day is where its noon is."""
    noon = f"(clicks.day::BIGINT * {DAY_MS} + {DAY_MS // 2})"
    times = TimeColumns(asked, noon, given)
    columns = [*_counted_by(asked, times), _WHO.format(day="clicks.day::BIGINT")]
    conditions = [f"{noon} >= {given(asked.start)}", f"{noon} < {given(asked.end)}", *_others(asked, given)]
    return f"""
        SELECT DISTINCT {", ".join(columns)}
        FROM day_visitors AS clicks {times.join} {_join_links(asked)} WHERE {" AND ".join(conditions)}
    """


def _counted_by(asked: Asked, times: TimeColumns) -> list[str]:
    """The columns that clicks are added up by, of links one number."""
    parts = [f"{times.number} AS part"] if asked.has_time else []
    groups = ["grouped.link_group"] if asked.link_groups else []
    return [*parts, *groups, *(f"clicks.{each}" for each in asked.group_by if each in CLICK_FIELDS)]


def _join_links(asked: Asked) -> str:
    return "JOIN grouped ON grouped.link = clicks.link" if asked.link_groups else ""


def _conditions(asked: Asked, given: Given) -> list[str]:
    """Which rows of `clicks` count."""
    conditions = [f"clicks.at >= {given(asked.start)}", f"clicks.at < {given(asked.end)}"]
    if asked.last_block is not None:
        conditions.append(f"clicks.block <= {given(asked.last_block)}")
    for name, chosen in asked.query.filters.items():
        if name in CLICK_FIELDS:
            conditions.append(condition(chosen, f"clicks.{name}", given))
    if Field.VARIANT in asked.query.fields:
        conditions.append("clicks.variant IS NOT NULL")
    return conditions + _others(asked, given)


def _others(asked: Asked, given: Given) -> list[str]:
    """The conditions for what is no field of clicks: events, and links where they are not joined."""
    event = asked.query.filters.get(Field.EVENT)
    conditions = [condition(event, "NULL::VARCHAR", given)] if event is not None else []
    if asked.filters_links and not asked.link_groups:
        conditions.append("clicks.link IN (SELECT link FROM asked_links)")
    return conditions


def _shown(asked: Asked, given: Given, counted: str, values: list[str], *, is_grouped: bool = True) -> str:
    """What was counted, by what rows are by."""
    tables, join = "", ""
    if asked.link_groups:
        tables = f"WITH {link_groups(asked, given)}"
        join = "JOIN named ON named.link_group = counted.link_group"
    elif asked.filters_links:
        tables = f"WITH asked_links AS ({asked_links(asked, given)})"
    groups = [f"{_column(each)} AS {name}" for each, name in zip(asked.group_by, asked.columns, strict=True)]
    return f"""
        {tables}
        SELECT {", ".join([*groups, *values])} FROM ({counted}) AS counted {join}
        {grouped_by(len(groups)) if is_grouped else ""}
    """


def _column(field: Field) -> str:
    if field in TIMES:
        return "counted.part"
    if field in LINK_FIELDS:
        return f"named.{link_column(field)}"
    return "NULL::VARCHAR" if field is Field.EVENT else f"counted.{field}"

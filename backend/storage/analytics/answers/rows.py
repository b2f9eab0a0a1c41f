"""The rows of an answer, from all that is counted: of its period, and of the one that it is compared with."""

# ruff: noqa: S608 - names of columns come from dicts of constants, and values are parameters

from __future__ import annotations

from collections.abc import Iterator

from backend.domain.analytics.query import PEOPLE, TIMES, Measure
from backend.storage.analytics.conditions.asked import Asked
from backend.storage.analytics.conditions.given import Given
from backend.storage.analytics.measures.clicks import clicks_of, visitors_of
from backend.storage.analytics.measures.installs import asks_for_installs, installs_of
from backend.storage.analytics.measures.sales import asks_for_sales, people_of, sales_of

# Before the columns of what is compared with.
BEFORE = "before_"
_ADDED = "sum({})::BIGINT"
# How the columns of several sources become one.
_TOGETHER = {
    "clicks": _ADDED,
    "not_counted": _ADDED,
    "visitors": _ADDED,
    "installs": _ADDED,
    "customers": _ADDED,
    "contacts": _ADDED,
    "sold": "any_value({})",
}


def rows_of(now: Asked, before: Asked | None, given: Given) -> str:
    """A SELECT of a row for each group: what it is by, `apart`, and what is counted.

    A part of the time alone has a row for all of its parts.
    """
    periods = {"": now} | ({BEFORE: before} if before else {})
    counted = [
        (columns, _source(asked, columns, text, prefix), prefix)
        for prefix, asked in periods.items()
        for columns, text in _sources(asked, given)
    ]
    sources = [text for _, text, _ in counted]
    names = [f"{prefix}{each}" for columns, _, prefix in counted for each in columns]
    if now.has_time and len(now.group_by) == 1:
        sources.append(f"SELECT unnest(range({given(len(now.labels))}))::INTEGER AS g0")
    groups = [*now.columns, *(["apart"] if now.query.has_kinds else [])]
    if len(sources) == 1:
        return f"SELECT {', '.join([*groups, *names])} FROM ({sources[0]})"
    values = [f"{_TOGETHER[each.removeprefix(BEFORE)].format(each)} AS {each}" for each in names]
    united = " UNION ALL BY NAME ".join(f"({each})" for each in sources)
    return f"SELECT {', '.join([*groups, *values])} FROM ({united}) GROUP BY ALL"


def totals_of(now: Asked, before: Asked | None, given: Given) -> str:
    """A SELECT of one row: what all groups come to, each thing once."""
    periods = {"": now.in_all} | ({BEFORE: before.in_all} if before else {})
    sources = [
        _source(asked, columns, text, prefix)
        for prefix, asked in periods.items()
        for columns, text in _sources(asked, given)
    ]
    return f"SELECT * FROM {', '.join(f'({each}) AS s{number}' for number, each in enumerate(sources))}"


def _sources(asked: Asked, given: Given) -> Iterator[tuple[list[str], str]]:
    """The columns of what is counted, and the SELECT that counts it."""
    needed = asked.query.needed
    if clicks := [each.value for each in (Measure.CLICKS, Measure.NOT_COUNTED) if each in needed]:
        yield clicks, clicks_of(asked, given)
    if Measure.VISITORS in needed:
        yield ["visitors"], visitors_of(asked, given)
    if asks_for_sales(asked):
        yield ["sold"], sales_of(asked, given)
    if people := [each.value for each in Measure if each in needed & PEOPLE]:
        yield people, people_of(asked, given)
    if asks_for_installs(asked):
        yield ["installs"], installs_of(asked, given)


def _source(asked: Asked, columns: list[str], text: str, prefix: str) -> str:
    """What a source counts, with names for its columns; without what no part of the time is compared with."""
    renamed = ", ".join(f"{each} AS {prefix}{each}" for each in columns)
    star = f"* RENAME ({renamed})" if prefix else "*"
    parts = [name for name, each in zip(asked.columns, asked.group_by, strict=True) if each in TIMES]
    only = f"WHERE {parts[0]} IS NOT NULL" if parts else ""
    return f"SELECT {star} FROM ({text}) {only}"

"""The chance of each row's variant to be the best of those that it stood beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.analytics_query import TIMES, Field, Measure, Query
from backend.domain.chances import chances_of_best
from backend.domain.errors import InvalidField
from backend.storage.analytics.questions.figures import sums_of
from backend.storage.analytics.questions.given import Given
from backend.storage.analytics.questions.rows import BEFORE

MOST_ROWS = 10_000
_Row = Mapping[str, Any]


def chances_of(query: Query, found: Sequence[_Row], given: Given) -> str:
    """A SELECT of `chance`, and `before_chance`, by what rows are by.

    A chance is null where a row has no other to be compared with, or nobody has clicked. Raises InvalidField
    where these are too many rows.
    """
    names = [name for name in (found[0] if found else ()) if name.startswith("g") or name == "apart"]
    now, before = (_chances(query, names, found, prefix) for prefix in ("", BEFORE))
    columns = [
        f"unnest({given([row[name] for row in found])}::{_type_of(query, name)}[]) AS {name}"
        for name in names
    ]
    chances = {"chance": now, f"{BEFORE}chance": before}
    columns += [f"unnest({given(each)}::DOUBLE[]) AS {name}" for name, each in chances.items()]
    return f"SELECT {', '.join(columns)}"


def _type_of(query: Query, name: str) -> str:
    """The type of a column that rows are by."""
    if name == "apart":
        return "VARCHAR"
    return "INTEGER" if query.group_by[int(name[1:])] in {*TIMES, Field.LINK} else "VARCHAR"


def _chances(query: Query, names: Sequence[str], found: Sequence[_Row], prefix: str) -> list[float | None]:
    """The chances of rows in one period, those rows with nothing there left out."""
    there = [number for number, row in enumerate(found) if _is_there(row, names, prefix)]
    if len(there) > MOST_ROWS:
        rule = f"has {Measure.CHANCE_OF_BEST}, which is for at most {MOST_ROWS:,} rows; filters give fewer"
        raise InvalidField("measures", rule)
    variant = f"g{query.group_by.index(Field.VARIANT)}"
    tests: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number in there:
        tests[tuple(found[number][name] for name in names if name != variant)].append(number)
    chances: list[float | None] = [None] * len(found)
    for numbers in tests.values():
        counts = [sums_of(found[number], prefix) for number in numbers]
        best = chances_of_best([(each.clicks, float(each.conversions)) for each in counts])
        for number, chance in zip(numbers, best, strict=True):
            chances[number] = chance
    return chances


def _is_there(row: _Row, names: Sequence[str], prefix: str) -> bool:
    """Whether anything is counted in this period."""
    values = {name: value for name, value in row.items() if name not in names}
    return any(value is not None for name, value in values.items() if name.startswith(BEFORE) == bool(prefix))

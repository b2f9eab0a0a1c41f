"""The chance of each row's variant to be the best of those that it stood beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from backend.domain.analytics.chances import chances_of_best
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import TIMES, Field, Query
from backend.domain.errors import InvalidField
from backend.storage.analytics.answers.reading import FetchedColumns, sums_of
from backend.storage.analytics.answers.rows import BEFORE
from backend.storage.analytics.conditions.parameters import SqlParameters

MOST_ROWS = 10_000


def chances_of(query: Query, groups: Sequence[str], rows: FetchedColumns, parameters: SqlParameters) -> str:
    """A SELECT of `chance`, and `before_chance`, by the columns that tell rows apart.

    A chance is null where a row has no other to be compared with, or nobody has clicked. Raises InvalidField
    if more than `MOST_ROWS` rows are to be compared.
    """
    chances = {f"{prefix}chance": _chances(query, groups, rows, prefix) for prefix in ("", BEFORE)}
    columns = [
        f"unnest({parameters(list(rows[name]))}::{_type_of(query, name)}[]) AS {name}" for name in groups
    ]
    columns += [f"unnest({parameters(column)}::DOUBLE[]) AS {name}" for name, column in chances.items()]
    return f"SELECT {', '.join(columns)}"


def _type_of(query: Query, name: str) -> str:
    """The type of a column that tells rows apart."""
    if name == "apart":
        return "VARCHAR"
    return "INTEGER" if query.group_by[int(name[1:])] in {*TIMES, Field.LINK} else "VARCHAR"


def _chances(query: Query, groups: Sequence[str], rows: FetchedColumns, prefix: str) -> list[float | None]:
    """The chances of rows in one period; None for rows without figures in it."""
    values = [
        column
        for name, column in rows.items()
        if name not in groups and name.startswith(BEFORE) == bool(prefix)
    ]
    chances: list[float | None] = [None] * len(rows[groups[0]])
    there = [number for number in range(len(chances)) if any(column[number] is not None for column in values)]
    if len(there) > MOST_ROWS:
        rule = f"has {Measure.CHANCE_OF_BEST}, which is for at most {MOST_ROWS:,} rows; filters give fewer"
        raise InvalidField("measures", rule)
    sums = sums_of(rows, prefix)
    variant = f"g{query.group_by.index(Field.VARIANT)}"
    tests: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    for number in there:
        tests[tuple(rows[name][number] for name in groups if name != variant)].append(number)
    for numbers in tests.values():
        best = chances_of_best([(sums[number].clicks, float(sums[number].conversions)) for number in numbers])
        for number, chance in zip(numbers, best, strict=True):
            chances[number] = chance
    return chances

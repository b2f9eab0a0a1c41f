"""The query of a report: the body of `POST /analytics/query`, kept as it was given.

It is read anew each time, so that its period moves with the time. A report shows one page of rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.input import FIELDS, NULLABLE, UpTo, parse_query
from backend.domain.analytics.query import MONEY, Measure, Query
from backend.domain.errors import FieldError, InvalidField
from backend.domain.fields.rules import JsonObject, Schema

# Of a report: it is one page, and it may be a mail.
MOST_ROWS = 1_000
_MOST_BYTES = 32 * 1024
_LIMIT = UpTo(MOST_ROWS, MOST_ROWS)


class SavedQuery:
    """A query as JSON. `read_query` says whether it can be answered."""

    _OBJECT = JsonObject(_MOST_BYTES)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The query without fields that are null. Raises InvalidField."""
        given = self._OBJECT.parse(field, value)
        if "cursor" in given:
            raise InvalidField(f"{field}.cursor", "is not a field of a report, which has no other pages")
        query = {name: inner for name, inner in given.items() if inner is not None or name not in NULLABLE}
        if "limit" in query:
            _LIMIT.parse(f"{field}.limit", query["limit"])
        return query

    def schema(self) -> Schema:
        """JSON Schema of the query's fields, but for what filters may be."""
        rules = {name: rule for name, rule in FIELDS.items() if name != "cursor"} | {"limit": _LIMIT}
        return {
            "type": "object",
            "additionalProperties": False,
            "description": "As the body of POST /analytics/query, without cursor.",
            "properties": {
                name: {"anyOf": [rule.schema(), {"type": "null"}]} if name in NULLABLE else rule.schema()
                for name, rule in rules.items()
            }
            | {"filters": {"type": "object", "additionalProperties": True}},
        }


def read_query(saved: Mapping[str, Any], now: datetime, *, shows_revenue: bool) -> Query:
    """What a report shows at `now`: its saved query, without amounts unless it shows revenue.

    Raises the errors of all fields together; each name begins with `query.`.
    """
    with _inside_query():
        query = parse_query({"limit": MOST_ROWS, **saved}, now)
        return query if shows_revenue else without_amounts(query)


def check_properties(query: Query, marked: Collection[str]) -> None:
    """Raise InvalidField if the query names a property of events that the organization has not marked."""
    with _inside_query():
        check_marked(query.group_by, query.filters, marked)


def without_amounts(query: Query) -> Query:
    """The query without measures of money, and not sorted by one: the order of rows tells of amounts too.

    Raises InvalidField if nothing is left.
    """
    measures = tuple(measure for measure in query.measures if measure not in MONEY)
    if not measures:
        raise InvalidField("measures", "must have one that is no amount, since shows_revenue is false")
    order = None if query.order and query.order.column in MONEY else query.order
    return replace(query, measures=measures, order=order)


def without_installs(query: Query) -> Query:
    """The query without what needs a subscription, which has ended since the report was saved.

    Raises InvalidField if nothing is left.
    """
    measures = tuple(measure for measure in query.measures if measure is not Measure.INSTALLS)
    if not measures:
        raise InvalidField("installs", "need a subscription, which has ended")
    order = None if query.order and query.order.column is Measure.INSTALLS else query.order
    return replace(query, measures=measures, order=order)


@contextmanager
def _inside_query() -> Iterator[None]:
    """Name the fields of errors as those of the field `query`."""
    try:
        yield
    except FieldError as error:
        first, *others = (InvalidField(f"query.{each.field}", each.rule) for each in (error, *error.others))
        first.others = tuple(others)
        raise first from None

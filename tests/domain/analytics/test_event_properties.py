"""Properties of events as fields of queries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from backend.domain.analytics.event_properties import (
    MOST_MARKED,
    EventProperty,
    MarkedProperties,
    check_marked,
    property_texts,
)
from backend.domain.analytics.filters import Filters
from backend.domain.analytics.input import PARAMETERS, parse_query
from backend.domain.analytics.query import Field, Order
from backend.domain.errors import InvalidField

NOW = datetime(2026, 3, 8, tzinfo=UTC)
PLAN = EventProperty("event.plan")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Pro ", "Pro "),
        ("a\0b", "a�b"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-12, "-12"),
        (3.0, "3"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e22, "1e+22"),
    ],
)
def test_values_read_as_texts(value: object, text: str) -> None:
    """Texts as they are, numbers as JSON writes them (3.0 is 3), and true or false."""
    assert property_texts({"x": value}) == {"x": text}


@pytest.mark.parametrize("metadata", [None, {}, {"x": None, "y": {"z": 1}, "w": ["a"], "v": ""}])
def test_nothing_empty_texts_objects_and_lists_are_no_values(metadata: object) -> None:
    """An event without any value has none."""
    assert property_texts(metadata) is None


def test_a_query_names_properties_wherever_it_names_fields() -> None:
    """In group_by, filters and order_by; and in the parameters of an export."""
    query = parse_query(
        {"measures": ["events"], "group_by": ["event", "event.a.b"], "filters": {"event.plan": ["pro", None]},
         "order_by": "-event.a.b"},
        NOW,
    )  # fmt: skip
    assert query.group_by == (Field.EVENT, EventProperty("event.a.b"))
    assert query.filters == {PLAN: frozenset({"pro", None})}
    assert query.order == Order(EventProperty("event.a.b"), is_descending=True)
    assert PARAMETERS["group_by"].parse("group_by", "day,event.plan") == ["day", "event.plan"]


@pytest.mark.parametrize("name", ["", " x", "x ", "$x", "a,b", 'a"b', "a\\b", "a\nb", "x" * 65])
def test_names_that_no_query_could_write_are_refused(name: str) -> None:
    """Both where they are marked and where a query names them; the error names the field."""
    with pytest.raises(InvalidField, match=r"properties\[1\] must have from 1 to 64 characters"):
        MarkedProperties().parse("properties", ["x", name])
    with pytest.raises(InvalidField, match="filters"):
        Filters().parse("filters", {f"event.{name}": ["x"]})


def test_so_many_properties_can_be_marked_and_no_more() -> None:
    """A name that is there twice counts once."""
    names = [str(number) for number in range(MOST_MARKED)]
    assert MarkedProperties().parse("properties", [*names[1:], "1"]) == tuple(names[1:])
    for wrong in ([*names, "one more"], "plan", [1]):
        with pytest.raises(InvalidField, match="properties"):
            MarkedProperties().parse("properties", wrong)


@pytest.mark.parametrize(
    ("asked", "field"), [({"group_by": (PLAN,)}, "group_by"), ({"filters": {PLAN: 1}}, "filters.event.plan")]
)
def test_a_property_that_is_not_marked_is_refused(asked: dict[str, Any], field: str) -> None:
    """The error names it, says how it is marked, and which are."""
    asked = {"group_by": (), "filters": {}} | asked
    with pytest.raises(InvalidField) as refused:
        check_marked(**asked, marked=["Plan", "size"])
    assert refused.value.field == field
    assert "event.plan" in refused.value.rule
    assert "PATCH /event-properties" in refused.value.rule
    assert refused.value.rule.endswith("marked are: event.Plan, event.size")
    check_marked(**asked, marked=["plan"])

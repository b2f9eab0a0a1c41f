"""How funnels are read, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from backend.domain.analytics.funnels.funnel import Funnel, FunnelStep, FunnelStepKind
from backend.domain.analytics.funnels.input import funnel_json, funnel_of, parse_funnel_query
from backend.domain.analytics.query import Field, Filter, Not, Prefix, QueryField
from backend.domain.errors import FieldError
from backend.domain.sales.credit_rules import CreditTo

NOW = datetime(2026, 3, 9, 10, 5, tzinfo=UTC)
CLICK, SALE = {"kind": "click"}, {"kind": "conversion"}


def test_what_is_left_out_has_its_default() -> None:
    """A device does the steps in order within thirty days, from the last 28 days on, ungrouped."""
    query = parse_funnel_query({"steps": [CLICK, SALE]}, NOW)
    steps = (FunnelStep(FunnelStepKind.CLICK), FunnelStep(FunnelStepKind.CONVERSION))
    assert query.funnel == Funnel(steps=steps, by=CreditTo.DEVICE, within_days=30, is_ordered=True)
    assert (query.period.start, query.period.end) == (
        datetime(2026, 2, 10, tzinfo=UTC),
        datetime(2026, 3, 10, tzinfo=UTC),
    )
    assert parse_funnel_query({"steps": [CLICK, SALE], "period": "last_week"}, NOW).period.end.day == 9


def test_a_funnel_is_read_as_it_was_written() -> None:
    """With filters of each form, and null among their values."""
    chosen: dict[QueryField, Filter] = {
        Field.COUNTRY: frozenset({None, "DE", "AT"}),
        Field.TAG: Not(frozenset({"a", None})),
    }
    first = FunnelStep(FunnelStepKind.EVENT, "added_to_cart", chosen | {Field.EVENT: Prefix("a")})
    other = FunnelStep(FunnelStepKind.LEAD)
    funnel = Funnel(
        steps=(first, other), by=CreditTo.CUSTOMER, within_days=7, is_ordered=False, group_by=Field.EVENT
    )
    written = funnel_json(funnel)
    assert written["steps"][0]["filters"]["country"] == ["AT", "DE", None]
    assert parse_funnel_query(written, NOW).funnel == funnel
    assert funnel_of({"group_by": ()}, funnel).group_by is None


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"steps": [CLICK]}, "steps must be a list of 2 to 8 steps"),
        ({"steps": [CLICK, SALE] * 5}, "steps must be a list of 2 to 8 steps"),
        ({"steps": [CLICK, "sale"]}, "steps[1] must be an object with kind"),
        ({"steps": [CLICK, {}]}, "steps[1].kind is required"),
        (
            {"steps": [CLICK, {"kind": "visit"}]},
            "steps[1].kind must be one of click, lead, event, conversion",
        ),
        ({"steps": [{"kind": "click", "name": "x"}, SALE]}, "steps[0].name is the name of an event"),
        (
            {"steps": [{"kind": "click", "filters": {"event": ["x"]}}, SALE]},
            "steps[0].filters.event can't be filtered by; possible are link, domain, campaign",
        ),
        ({"steps": [CLICK, SALE, SALE], "ordered": False}, "steps[2] is the same as steps[1]"),
        ({"steps": [CLICK, SALE], "within_days": 366}, "within_days must be a whole number from 1 to 365"),
        ({"steps": [CLICK, SALE], "group_by": ["day"]}, "group_by must be a field of the first step: link"),
        ({"steps": [CLICK, SALE], "group_by": ["event.plan"]}, "group_by must be a field of the first step"),
        ({"steps": [CLICK, SALE], "group_by": ["link", "tag"]}, "group_by must have from 0 to 1 entries"),
        ({"steps": [CLICK, SALE], "by": "visitor"}, "by must be one of device, customer"),
        ({"steps": [CLICK, SALE], "from": "2027-01-01"}, "to must be after from"),
        ({"steps": [CLICK, SALE], "model": "last"}, "model is not a field of this request"),
    ],
)
def test_what_is_refused(body: dict[str, Any], error: str) -> None:
    """The error names the field and its rule."""
    with pytest.raises(FieldError) as refused:
        parse_funnel_query(body, NOW)
    assert str(refused.value).startswith(error)

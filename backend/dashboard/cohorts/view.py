"""What the addresses of the pages about customers over time ask for."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from quart import request, url_for

from backend.dashboard.analytics.view import PRESETS, View, read_view
from backend.dashboard.cohorts.triangle import SHOWN
from backend.dashboard.frame.blueprint import may_open
from backend.domain.analytics.cohorts.cohorts import check_cohorts
from backend.domain.errors import InvalidField
from backend.web.current import resources

# Of the usual periods, those that are long enough and not too long. The first of them is shown without any.
_USUAL = "90"
PERIODS = {name: PRESETS[name] for name in ("28", _USUAL, "year")}
CHOICES: Mapping[str, Container[str]] = {"show": tuple(SHOWN), "sum": ("1",), "period": ("28",)}
# What the address of a page of single sales has besides, and the page of all of them has not.
SOLD_ARGUMENTS = ("of", "cohort", "week", "kind", "bucket")


def cohorts_view(choices: Mapping[str, Container[str]] = CHOICES) -> View:
    """The view of the address. Without a period, it is a longer one than other pages show."""
    arguments = dict(request.args.items())
    if not any(arguments.get(name) for name in ("from", "to")) and arguments.get("period") not in PERIODS:
        arguments["period"] = _USUAL
    now = resources().clock()
    view = replace(read_view(arguments, now, now.date(), choices), comparison=None)
    try:
        check_cohorts(view.period)
    except InvalidField as error:
        shorter = read_view(arguments | {"period": _USUAL}, now, now.date(), choices)
        errors = {**view.errors, error.field: error.rule}
        return replace(view, period=shorter.period, errors=errors)
    return view


def sold_address(view: View, **part: str | None) -> str:
    """The page of the single sales or customers of a part of what the view shows.

    "" for a user who may not see it.
    """
    if not may_open("cohorts_sales"):
        return ""
    return view.address(url_for("dashboard.cohorts_sales"), show=None, **part)

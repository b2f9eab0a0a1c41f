"""What the first step of a funnel is grouped by, as an address says it."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace

from backend.dashboard.analytics.answers import view_of_request
from backend.dashboard.analytics.view import View
from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.saved import SavedFunnel
from backend.domain.analytics.query import TIMES, Field, QueryField

# In an address: the groups of nothing.
UNGROUPED = "none"


def fields_of(funnel: Funnel) -> list[QueryField]:
    """What the first step can be grouped by."""
    fields: list[QueryField] = [field for field in Field if field not in TIMES and funnel.steps[0].has(field)]
    return fields if funnel.group_by in {None, *fields} else [*fields, funnel.group_by or Field.LINK]


async def funnel_view(
    saved: SavedFunnel, choices: Mapping[str, Container[str]] | None = None
) -> tuple[View, Funnel]:
    """The period that the request's address names, and the funnel with the groups that it names.

    `choices` are what the page adds to the address.
    """
    fields = fields_of(saved.funnel)
    by = [UNGROUPED, *(field.value for field in fields)]
    view = await view_of_request({"by": by, **(choices or {})})
    view = replace(view, comparison=None, filters={}, currency=None)
    chosen = view.others.get("by")
    if chosen is None:
        return view, saved.funnel
    group_by = next((field for field in fields if field.value == chosen), None)
    return view, replace(saved.funnel, group_by=group_by)

"""Which steps each fact can be, and the value that the first step is grouped by, as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duckdb import DuckDBPyConnection

from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.funnels.funnel import Funnel, FunnelStep
from backend.domain.analytics.query import LINK_FIELDS, Field, QueryField
from backend.storage.analytics.conditions.filters import condition
from backend.storage.analytics.conditions.links import link_column
from backend.storage.analytics.conditions.parameters import SqlParameters
from backend.storage.analytics.conditions.reach import is_reached
from backend.storage.analytics.conditions.share_values import APART, value_of_click, value_of_share
from backend.storage.analytics.conditions.tags import TagChoice, choose_tags_by


class StepConditions:
    """The steps of a funnel as conditions for rows of `shares`, with the `links` that are stored, joined.

    `earning` has the click that led to a touch, and `told` the metadata of an event. Conditions of clicks
    themselves have `clicks` in the place of `shares`.
    """

    def __init__(self, connection: DuckDBPyConnection, funnel: Funnel) -> None:
        self._funnel = funnel
        self._tags = [_tags_of(connection, funnel, number) for number in range(len(funnel.steps))]

    @property
    def tags(self) -> TagChoice | None:
        """The tags that groups by tag are of."""
        return self._tags[0] if self._funnel.group_by is Field.TAG else None

    def columns(self, parameters: SqlParameters) -> Sequence[str]:
        """The columns `s0`, `s1` and so on: whether a fact can be the step."""
        steps = enumerate(self._funnel.steps)
        return [
            f"({' AND '.join(self._conditions(number, step, parameters))}) AS s{number}"
            for number, step in steps
        ]

    def value(self, parameters: SqlParameters) -> str:
        """What the first step is grouped by; null for tags, of which a link may have several."""
        group_by = self._funnel.group_by
        if group_by is None or group_by is Field.TAG:
            return "NULL::VARCHAR"
        return _value(group_by, "shares", parameters)

    @property
    def apart(self) -> str:
        """The kind of a group that has no value."""
        return APART if self._funnel.group_by in LINK_FIELDS else "NULL::VARCHAR"

    def of_clicks(self, parameters: SqlParameters) -> str:
        """The condition that a row of `clicks`, with its link joined, can be the first step."""
        filters = self._filters(0, self._funnel.steps[0], "clicks", parameters)
        return " AND ".join(["true", *filters])

    def _conditions(self, number: int, step: FunnelStep, parameters: SqlParameters) -> Iterator[str]:
        yield f"shares.kind = {parameters(step.kind.value)}"
        if step.name is not None:
            yield f"coalesce(shares.name = {parameters(step.name)}, false)"
        yield from self._filters(number, step, "shares", parameters)

    def _filters(self, number: int, step: FunnelStep, table: str, parameters: SqlParameters) -> Iterator[str]:
        if reach := self._funnel.reach:
            yield f"coalesce(links.link IS NOT NULL AND {is_reached(reach, parameters)}, false)"
        has_touch = "shares.link IS NULL AND shares.has_touch" if table == "shares" else "false"
        if not LINK_FIELDS.isdisjoint(step.filters):
            yield f"(links.link IS NOT NULL OR ({has_touch}))"
        for field, chosen in step.filters.items():
            tags = self._tags[number]
            if field is not Field.TAG:
                yield condition(chosen, _value(field, table, parameters), parameters)
            elif tags:
                without = "true" if tags.without else "false"
                yield f"CASE WHEN links.link IS NULL THEN {without} ELSE {tags.passes_link(parameters)} END"


def _tags_of(connection: DuckDBPyConnection, funnel: Funnel, number: int) -> TagChoice | None:
    chosen = funnel.steps[number].filters.get(Field.TAG)
    is_grouped = number == 0 and funnel.group_by is Field.TAG
    return choose_tags_by(connection, chosen) if chosen is not None or is_grouped else None


def _value(field: QueryField, table: str, parameters: SqlParameters) -> str:
    """The expression of the field's value, for a row of `shares` or of `clicks`."""
    if field is Field.LINK:
        return "links.id"
    if table == "shares" or isinstance(field, EventProperty):
        return value_of_share(field, parameters)
    return f"links.{link_column(field)}" if field in LINK_FIELDS else value_of_click(field, table)

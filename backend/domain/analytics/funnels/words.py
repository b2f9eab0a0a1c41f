"""Steps and times of funnels in words, for the dashboard and the command line."""

from __future__ import annotations

from itertools import pairwise

from backend.domain.analytics.funnels.funnel import FunnelStep, FunnelStepKind
from backend.domain.analytics.query import Filter, Not, Prefix

_UNITS = (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def step_words(step: FunnelStep) -> str:
    """What is done in a step, such as "event added_to_cart"."""
    if step.kind is FunnelStepKind.EVENT:
        return "any event" if step.name is None else f"event {step.name}"
    return step.kind.value


def filters_words(step: FunnelStep) -> list[str]:
    """The filters of a step, such as "country: DE, AT"."""
    return [f"{name.value}: {_filter_words(chosen)}" for name, chosen in step.filters.items()]


def _filter_words(chosen: Filter) -> str:
    match chosen:
        case Prefix(text):
            return f"{text}…"
        case Not(values):
            return f"not {_values_words(values)}"
    return _values_words(chosen)


def _values_words(values: frozenset[str | None]) -> str:
    return ", ".join([*sorted(value for value in values if value is not None), *["none"] * (None in values)])


def duration_words(milliseconds: int) -> str:
    """How long something took, in its two largest units: "3 days 4 h", "12 min 5 s", "0 s"."""
    left = round(milliseconds / 1000)
    for (unit, size), (next_unit, next_size) in pairwise(_UNITS):
        if left >= size:
            count, more = left // size, left % size // next_size
            return _counted(count, unit) + (f" {_counted(more, next_unit)}" if more else "")
    return f"{left} s"


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' * (unit == 'day' and count != 1)}"

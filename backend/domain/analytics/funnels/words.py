"""Steps of funnels in words, for the dashboard and the command line."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.filter_words import filter_words
from backend.domain.analytics.funnels.funnel import FunnelStep, FunnelStepKind


def step_words(step: FunnelStep) -> str:
    """What is done in a step, such as "event added_to_cart"."""
    if step.kind is FunnelStepKind.EVENT:
        return "any event" if step.name is None else f"event {step.name}"
    return step.kind.value


def filters_words(step: FunnelStep, names: Mapping[str, str] | None = None) -> list[str]:
    """The filters of a step, such as "country: AT or DE". `names` stand for values, such as ids."""

    def name(value: str | None) -> str:
        return "none" if value is None else (names or {}).get(value, value)

    return [f"{by.value}: {filter_words(chosen, name)}" for by, chosen in step.filters.items()]

"""The words for what became of a visit, and for the reasons why it does not count."""

from __future__ import annotations

from backend.domain.clicks.clicks import NotCounted
from backend.domain.links.destinations.destination import OUTCOME_NAMES

REASONS: dict[str, str] = {
    NotCounted.HEAD: "a check (HEAD)",
    NotCounted.PREFETCH: "loaded ahead of a click",
    NotCounted.CRAWLER: "a crawler",
    NotCounted.PREVIEW_FETCHER: "a link preview",
    NotCounted.DISABLED: "the link was disabled",
    NotCounted.NOT_STARTED: "before the link's start",
    NotCounted.EXPIRED: "the link had expired",
    NotCounted.PASSWORD: "asked for the password",
    NotCounted.NOT_CONTINUED: "asked to continue",
    NotCounted.HELD: "the link was stopped by the operator",
}


def outcome_in_words(outcome: str, reason: str | None, variant: str | None = None) -> str:
    """What became of a visit, or why it does not count, and which variant it got if there are any."""
    became = OUTCOME_NAMES.get(outcome, outcome)
    words = became if reason is None else f"Not counted: {REASONS.get(reason, reason)}"
    return words + (f", variant {variant}" if variant else "")

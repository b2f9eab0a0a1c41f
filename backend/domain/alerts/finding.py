"""What an alert rule has found: a cause that holds now, or held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.ids import LinkId

# Numbers, texts and times by name; no lists, so that every reader can show them.
Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AlertCause:
    """A cause, and the figures that say why.

    A rule tells of a cause once in a `period`, and not again while the cause holds. `ended_at` is when the
    cause was over; None while it holds.
    """

    cause: str
    period: str
    began_at: datetime
    figures: Figures
    link_id: LinkId | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a rule would have told of in the last seven days. `note` says what can't be known afterwards."""

    findings: tuple[AlertCause, ...]
    note: str

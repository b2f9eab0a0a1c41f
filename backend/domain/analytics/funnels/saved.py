"""Funnels that an organization has saved, each under a name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.input import FUNNEL_FIELDS, funnel_json
from backend.domain.fields.json_times import time_json
from backend.domain.fields.rules import Rule, Text
from backend.domain.ids import FunnelId, OrgId

# Of an organization. Two that are made at the same moment may exceed it.
MOST_FUNNELS = 100
FUNNEL_NAME = Text(100, shown=True)
# The fields of a saved funnel, and those that a new one must have.
SAVED_FIELDS: dict[str, Rule[Any]] = {"name": FUNNEL_NAME, **FUNNEL_FIELDS}
SAVED_REQUIRED = ("name", "steps")


@dataclass(frozen=True, slots=True)
class SavedFunnel:
    """A funnel with a name. Its period is said whenever it is asked."""

    id: FunnelId
    org_id: OrgId
    name: str
    funnel: Funnel
    created_at: datetime


def saved_funnel_json(saved: SavedFunnel) -> dict[str, Any]:
    """The funnel as answers show it."""
    named = {"id": saved.id, "name": saved.name}
    return named | funnel_json(saved.funnel) | {"created_at": time_json(saved.created_at)}

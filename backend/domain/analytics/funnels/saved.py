"""Funnels that an organization has saved, each under a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.funnel import Funnel
from backend.domain.analytics.funnels.input import FUNNEL_FIELDS, funnel_json, funnel_of
from backend.domain.fields.answer_schemas import TEXT
from backend.domain.fields.rules import Schema, Text
from backend.domain.ids import FunnelId, OrgId
from backend.domain.resources.resource import Resource, RestNames, RestOperation, Verb
from backend.domain.resources.resource_field import CREATED_AT, ResourceField


@dataclass(frozen=True, slots=True)
class SavedFunnel:
    """A funnel with a name. Its period is said whenever it is asked."""

    id: FunnelId
    org_id: OrgId
    name: str
    funnel: Funnel
    created_at: datetime


def _from_fields(
    id: FunnelId,
    org_id: OrgId,
    name: str,
    created_at: datetime,
    **funnel: Any,
) -> SavedFunnel:
    parsed = {given: rule.parse(given, funnel[given]) for given, rule in FUNNEL_FIELDS.items()}
    return SavedFunnel(id, org_id, name, funnel_of(parsed), created_at)


def _completed(told: Mapping[str, Any], before: SavedFunnel | None) -> Mapping[str, Any]:
    """The whole funnel: its fields fit each other, also where somebody else changes others meanwhile."""
    funnel = funnel_of(told, before.funnel if before else None)
    return {"name": told.get("name", before and before.name)} | funnel_json(funnel)


def _shown(name: str) -> Callable[[SavedFunnel], Any]:
    return lambda saved: funnel_json(saved.funnel)[name]


_STEPS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["kind", "name", "filters"],
        "properties": {
            "kind": {"type": "string"},
            "name": {"type": ["string", "null"]},
            "filters": {"type": "object", "additionalProperties": True},
        },
    },
    "description": "As they were given.",
}
SAVED_FUNNELS = Resource(
    collection="funnels",
    thing=_from_fields,
    one="funnel",
    several="funnels",
    fields={
        "name": ResourceField(rule=Text(100, shown=True), answer=TEXT, is_required=True),
        "steps": ResourceField(
            rule=FUNNEL_FIELDS["steps"], answer=_STEPS, is_required=True, shown=_shown("steps")
        ),
        **{
            name: ResourceField(rule=FUNNEL_FIELDS[name], shown=_shown(name))
            for name in ("by", "within_days", "ordered", "group_by")
        },
        "created_at": CREATED_AT,
    },
    completed=_completed,
    most=100,
    too_many_at="name",
    order=("created_at",),
    reads=Permission.ANALYTICS_READ,
    writes=Permission.ANALYTICS_WRITE,
    audit_kind="funnel",
    known_by="name",
    why_not_personal="it says what is counted, and of nobody in particular",
    rest=RestNames(
        path="/funnels",
        id_name="funnelId",
        id_meaning="The funnel's id.",
        thing="Funnel",
        not_found="FUNNEL_NOT_FOUND",
        schema="Funnel",
        list_schema="FunnelList",
        listed="funnels",
        operations={
            Verb.LIST: RestOperation("get_funnels", "List the saved funnels"),
            Verb.ADD: RestOperation("post_funnel", "Save a funnel"),
            Verb.GET: RestOperation("get_funnel", "Get a saved funnel"),
            Verb.CHANGE: RestOperation("patch_funnel", "Change a saved funnel"),
            Verb.DELETE: RestOperation("remove_funnel", "Delete a saved funnel"),
        },
    ),
    pages={
        Verb.LIST: "funnels",
        Verb.ADD: "funnels_add",
        Verb.CHANGE: "funnels_change",
        Verb.DELETE: "funnels_delete",
    },
)

"""Entries of the audit log, as the feed has them and as they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.accounts.actors import Actor, ActorKind
from backend.domain.audit.differences import ShownFields
from backend.domain.feed.event_shapes import AuditEntryJson
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import Fact
from backend.domain.fields.shapes import json_of


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """What was changed: its kind, such as `link`, its id, and what people know it by."""

    kind: str
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """That an actor did something to a target.

    `before` and `after` have the fields that changed; None where the target was not there, or nothing of it
    changed. `id` is the same whenever the entry is read. `at` is MongoDB's time of the change, to the second.
    """

    id: str
    at: datetime
    actor: Actor
    action: str
    target: AuditTarget
    before: ShownFields | None
    after: ShownFields | None


def audit_fact(
    actor: Actor,
    action: str,
    target: AuditTarget,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Fact:
    """That an actor did something to a target, for the feed. `before` and `after` are given as shown.

    Names of customers are in no fact of this sort: a target that is one has no name, and a hash as its id.
    """
    return {
        "type": EventType.AUDIT.value,
        # Not `asdict`, which takes longer than all else: an entry is made for each new link.
        "actor": {"kind": actor.kind.value, "id": actor.id, "name": actor.name},
        "action": action,
        "target": {"kind": target.kind, "id": target.id, "name": target.name},
        "before": _pairs(before),
        "after": _pairs(after),
    }


def entry_of(fact: Fact, entry_id: str, at: datetime) -> AuditEntry:
    """The entry that a fact stands for."""
    actor = fact["actor"]
    return AuditEntry(
        entry_id,
        at,
        Actor(ActorKind(actor["kind"]), actor["id"], actor["name"]),
        fact["action"],
        AuditTarget(**fact["target"]),
        _values(fact["before"]),
        _values(fact["after"]),
    )


def entry_json(entry: AuditEntry) -> AuditEntryJson:
    """The entry as an object of JSON."""
    return json_of(AuditEntryJson, entry)


# Names of fields may have dots, which names in stored documents should not.
def _pairs(values: Mapping[str, Any] | None) -> list[list[Any]] | None:
    return None if values is None else [[name, value] for name, value in values.items()]


def _values(pairs: list[list[Any]] | None) -> ShownFields | None:
    return None if pairs is None else dict(pairs)

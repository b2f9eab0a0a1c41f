"""The collection of a resource."""

from __future__ import annotations

from typing import Any

from pymongo import IndexModel

from backend.domain.resources.resource import Resource
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.ownership import ByField


def collection_of(resource: Resource[Any]) -> Collection:
    """The declaration of the resource's collection; its index serves lists."""
    return Collection(
        name=resource.collection,
        indexes=[IndexModel([("org_id", 1), (resource.order[0], 1)])],
        owned_by=ByField(),
        personal=NotPersonal(resource.why_not_personal),
        retention=NoRetention("the organization made it, and its own people delete it"),
        archived=Stage.SETUP,
        shard_key=NotSharded("an organization has few"),
        audited=Audited(kind=resource.audit_kind, name=resource.known_by),
    )

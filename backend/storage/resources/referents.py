"""Whether the ids in the fields of a resource are those of what the organization has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.ids import LinkId, OrgId
from backend.domain.resources.resource import Resource
from backend.domain.resources.resource_field import Referent
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link


async def check_referents(
    database: Database, org_id: OrgId, resource: Resource[Any], values: Mapping[str, Any]
) -> None:
    """Raise InvalidField for an id among the values that is not of something of the organization."""
    for name, own in resource.fields.items():
        given = values.get(name) if own.refers_to is Referent.LINK else None
        if given is not None and await find_link(database, LinkId(given), org_id) is None:
            raise InvalidField(name, "must be a link of your organization")

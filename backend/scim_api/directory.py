"""The people and groups of one organization, as the protocol's library reads and writes them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scim2_models import (
    ConflictException,
    InvalidValueException,
    NotFoundException,
    PreconditionFailedException,
    Resource,
    ResourceType,
    ResponseParameters,
    SearchRequest,
    UniquenessException,
)
from scim2_server.storage import AsyncScimStorage, SearchPage

from backend.domain.accounts.provisioning.search import ResultPage
from backend.domain.accounts.roles import LastOwner
from backend.domain.errors import FieldError, ItemUnknown
from backend.domain.ids import OrgId
from backend.scim_api.filters import condition_of
from backend.scim_api.groups import Groups
from backend.scim_api.kind import AnyResourceKind
from backend.scim_api.resources import MOST_RESULTS, PROVIDER
from backend.scim_api.users import Users
from backend.storage.accounts.provisioning.changes import ChangedMeanwhile, MembersUnknown, ValueTaken
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock


class Directory(AsyncScimStorage):
    """What the library calls, for one organization. Each method raises the exceptions that it expects."""

    def __init__(self, database: Database, org_id: OrgId, base_url: str, clock: Clock) -> None:
        kinds: dict[str, Any] = {
            "User": Users(database, org_id, base_url),
            "Group": Groups(database, org_id, base_url),
        }
        self._kinds: Mapping[str, AnyResourceKind] = kinds
        self._clock = clock

    async def get(
        self,
        resource_type: ResourceType,
        resource_id: str,
        *,
        response_parameters: ResponseParameters[Any] | None = None,
    ) -> Resource[Any]:
        """The organization's resource with this id."""
        with _told():
            return await self._kind(resource_type).get(resource_id)

    async def search(
        self, resource_types: list[ResourceType], search_request: SearchRequest[Any], *, position: Any = None
    ) -> SearchPage:
        """A page of the organization's resources that fit, in the order in which they were made."""
        left = MOST_RESULTS if search_request.count is None else search_request.count
        skipped = search_request.start_index_0 or 0
        found = SearchPage(0, [])
        for resource_type in resource_types:
            condition = condition_of(search_request.filter, PROVIDER.model_for(resource_type))
            if condition is not None:
                page = ResultPage(skipped, left - len(found.resources))
                total, resources = await self._kind(resource_type).search(condition, page)
                found = SearchPage((found.total or 0) + total, [*found.resources, *resources])
                skipped = max(0, skipped - total)
        return found

    async def create(self, resource_type: ResourceType, resource: Resource[Any]) -> Resource[Any]:
        """Store a new resource."""
        with _told():
            return await self._kind(resource_type).create(resource, str(uuid.uuid4()), self._clock())

    async def update(
        self, resource_type: ResourceType, resource: Resource[Any], *, expected_version: str | None = None
    ) -> Resource[Any]:
        """Store a resource in the place of the one with its id."""
        with _told():
            return await self._kind(resource_type).update(resource, _version(expected_version), self._clock())

    async def delete(
        self, resource_type: ResourceType, resource_id: str, *, expected_version: str | None = None
    ) -> None:
        """Delete a resource."""
        with _told():
            await self._kind(resource_type).delete(resource_id, _version(expected_version), self._clock())

    def _kind(self, resource_type: ResourceType) -> AnyResourceKind:
        return self._kinds[str(resource_type.name)]


def _version(entity_tag: str | None) -> int:
    """The number in an entity tag that the service made itself."""
    assert entity_tag is not None  # the handler read the resource before
    return int(entity_tag.removeprefix('W/"').removesuffix('"'))


@contextmanager
def _told() -> Iterator[None]:
    """Tell what the storage refuses as the protocol's errors."""
    try:
        yield
    except ItemUnknown:
        raise NotFoundException(detail="There is no such resource in this organization") from None
    except ChangedMeanwhile:
        raise PreconditionFailedException from None
    except ValueTaken as error:
        raise UniquenessException(detail=str(error)) from None
    except LastOwner as error:
        raise ConflictException(detail=str(error)) from None
    except (FieldError, MembersUnknown) as error:
        raise InvalidValueException(detail=str(error)) from None

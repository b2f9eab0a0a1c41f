"""Answers calls of the protocol for one organization."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import ValidationError
from scim2_models import Error, PreconditionFailedException, Resource, SCIMException
from scim2_server.handler import AsyncScimHandler
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse
from scim2_server.service import ScimService

from backend.domain.ids import OrgId
from backend.scim_api.directory import Directory
from backend.scim_api.resources import PROVIDER
from backend.scim_api.work import check_work
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock


class _Service(ScimService):
    def publish(self, base_url: str, resource: Resource[Any]) -> Resource[Any]:
        """The resource with its address.

        The library makes a copy, which takes most of a second for a group of some thousands. The directory
        makes each resource anew, with whole addresses in its references.
        """
        assert resource.meta is not None
        assert resource.id is not None
        kind = self.get_resource_type_of(resource)
        location = self.resource_location(base_url, kind, resource.id)
        resource.meta = resource.meta.model_copy(update={"location": location})
        return resource


_SERVICE = _Service(PROVIDER)
# Providers send changes of one group side by side. Each is applied to what the one before has left.
_TRIES = 5


async def answer(call: ScimRequest, database: Database, org_id: OrgId, clock: Clock) -> ScimResponse:
    """The answer to this call, whatever is wrong with it. Only what the storage raises goes through."""
    handler = AsyncScimHandler(_SERVICE, Directory(database, org_id, call.base_url, clock))
    try:
        check_work(call)
        return await _answer(handler, call)
    except SCIMException as error:
        return _SERVICE.error_response(error)
    except ValidationError as error:
        [first, *_] = Error.from_validation_errors(error)
        return ScimResponse(HTTPStatus(first.status or 400), first.model_dump())


async def _answer(handler: AsyncScimHandler, call: ScimRequest) -> ScimResponse:
    for _ in range(_TRIES - 1):
        try:
            return await handler.handle(call)
        except PreconditionFailedException:
            if call.header("If-Match") or call.header("If-None-Match"):
                raise
    return await handler.handle(call)

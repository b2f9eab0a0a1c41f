"""What the REST API needs beyond the app's common resources to write links."""

from __future__ import annotations

from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import LinkOperation, LinkRequest, LinkResult
from backend.json_api.json_body import body_bytes
from backend.rest_api.links.errors import api_error_of
from backend.rest_api.routes.blueprint import caller, reach
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.links.writing.grouped_writes import LinkWrites
from backend.storage.links.writing.writes import Submission
from backend.web.current import Resources, of_app, resources


class LinkService:
    """The group commit for operations on single links, and the cache of the domains' owners."""

    def __init__(self, resources: Resources) -> None:
        self.owners = DomainOwners(resources.database)
        self.commit = LinkWrites(resources.database, resources.destinations, self.owners)


def link_request(operation: LinkOperation) -> LinkRequest:
    """The operation as a request of the current caller, at this time."""
    return LinkRequest(caller().org_id, CreatedBy.REST, resources().clock(), operation, reach())


async def submit(submission: Submission) -> LinkResult:
    """Carry out a submission of one operation, together with those of other requests.

    Raises NotStored if the storage can't be reached.
    """
    (outcome,) = await of_app(LinkService).commit.add(submission, body_bytes())
    return outcome


async def carry_out(operation: LinkOperation) -> Link:
    """Carry out one operation of the current request. Returns the link as it is now.

    Raises ApiError where the operation is rejected.
    """
    return link_of(await submit(Submission([link_request(operation)])))


def link_of(outcome: LinkResult) -> Link:
    """The link of an operation. Raises ApiError where it was rejected."""
    if outcome.error:
        raise api_error_of(outcome.error)
    return outcome.require_link()

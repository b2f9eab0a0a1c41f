"""Writes the links of requests that arrive together in one transaction."""

from __future__ import annotations

from backend.domain.links.operations import LinkResult
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import Submission, write_links


class LinkWrites(GroupWrites[Submission, list[LinkResult]]):
    """The group commit for operations on single links, which all requests of an interface share."""

    # One larger group takes less processor time for each link than two groups at the same time.
    MOST_WRITERS = 1

    def __init__(self, database: Database, policies: DestinationPolicies, owners: DomainOwners) -> None:
        super().__init__(
            lambda submissions: write_links(database, submissions, policies, owners),
            owner_of=lambda submission: submission.requests[0].org_id,
        )

"""Writes the links of requests that arrive together in one transaction."""

from __future__ import annotations

from backend.domain.links.operations import (
    ChangeLink,
    CreateLink,
    LinkOperation,
    LinkResult,
    UpsertLink,
    fields_of,
)
from backend.domain.links.rules.rule_json import rule_targets
from backend.storage.accounts.domain_owners import DomainOwners
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.loops import may_loop
from backend.storage.links.writing.writes import Submission, write_links

# So many addresses of rules take as much of a group as a link. A link may have 500.
_TARGETS_AS_ONE = 2
_WITH_STORED_RULES = 10  # of a link that may have rules already, nobody knows yet how many


class LinkWrites(GroupWrites[Submission, list[LinkResult]]):
    """The group commit for operations on single links, which all requests of an interface share."""

    # One larger group takes less processor time for each link than two groups at the same time.
    MOST_WRITERS = 1

    def __init__(self, database: Database, policies: DestinationPolicies, owners: DomainOwners) -> None:
        super().__init__(
            lambda submissions: write_links(database, submissions, policies, owners),
            owner_of=lambda submission: submission.requests[0].org_id,
            size_of=_size_of,
        )


def _size_of(submission: Submission) -> int:
    return sum(_size_of_operation(request.operation) for request in submission.requests)


def _size_of_operation(operation: LinkOperation) -> int:
    """One, and more for where the link's rules lead: that is looked up in the transaction of the group."""
    rules = fields_of(operation).get("rules")
    if rules is not None:
        return 1 + len(rule_targets(rules)) // _TARGETS_AS_ONE
    match operation:
        case UpsertLink() | CreateLink(copy_of=str()):
            return _WITH_STORED_RULES
        case ChangeLink(_, changes) if may_loop(changes):
            return _WITH_STORED_RULES
    return 1

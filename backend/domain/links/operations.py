"""Operations on the links of an organization, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import Changes, NewLink
from backend.domain.links.links import CreatedBy, Link


class DomainNotConfigured(ValueError):
    """The organization does not own the domain."""


class PathTaken(ValueError):
    """Another link already has this path on the domain."""


class ExternalIdTaken(ValueError):
    """Another link of the organization already has this external id."""


class LinkGone(LookupError):
    """The organization has no such link, or not any more."""


class LinkChangedMeanwhile(ValueError):
    """Somebody else has changed what the operation was to change."""


@dataclass(frozen=True, slots=True)
class CreateLink:
    """Make a new link.

    With `link_id`, it is made only if no link has this id yet. `as_it_was` is a function that gives the link
    the state that it had elsewhere. With `copy_of`, it copies that link, except for the fields in `new`.
    """

    new: NewLink
    link_id: LinkId | None = None
    as_it_was: Callable[[Link], Link] | None = None
    copy_of: LinkId | None = None


@dataclass(frozen=True, slots=True)
class UpsertLink:
    """Bring the link with the external id in `new` up to date and out of the archive, or make it."""

    new: NewLink


@dataclass(frozen=True, slots=True)
class ChangeLink:
    """Change a link. `seen` are values that it must still have: whoever made the changes saw these.

    With `not_archived`, an archived link counts as gone, since the contract's operations know no archive.
    """

    link_id: LinkId
    changes: Changes
    not_archived: bool = False
    seen: Changes = field(default_factory=dict)

    def is_seen(self, link: Link) -> bool:
        """Whether the link is still as it was seen."""
        return all(getattr(link, name) == value for name, value in self.seen.items())


@dataclass(frozen=True, slots=True)
class ArchiveLink:
    """Archive a link."""

    link_id: LinkId


LinkOperation = CreateLink | UpsertLink | ChangeLink | ArchiveLink


def operation_for(new: NewLink) -> CreateLink | UpsertLink:
    """The operation that stores this link: an UpsertLink if it has an external id, else a CreateLink."""
    return CreateLink(new) if new.fields.get("external_id") is None else UpsertLink(new)


def fields_of(operation: LinkOperation) -> Changes:
    """The fields that an operation gives to a link."""
    match operation:
        case CreateLink(new) | UpsertLink(new):
            return new.fields
        case ChangeLink(_, changes):
            return changes
    return {}


def with_fields(operation: LinkOperation, fields: Changes) -> LinkOperation:
    """The operation with these fields instead of its own."""
    match operation:
        case CreateLink(new) | UpsertLink(new):
            return replace(operation, new=replace(new, fields=fields))
        case ChangeLink():
            return replace(operation, changes=fields)
    return operation


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """An operation on an organization's links. `created_by` is the kind of key with which it is asked for.

    `reach` are the links that it may be about, as they are before and after it; None for all.
    """

    org_id: OrgId
    created_by: CreatedBy
    now: datetime
    operation: LinkOperation
    reach: LinkReach | None = None

    def reaches(self, link: Link) -> bool:
        """Whether the operation may be about this link of the organization."""
        return self.reach is None or self.reach.has(link)


class Done(StrEnum):
    """What an operation did."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    ARCHIVED = "archived"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class LinkResult:
    """The result of an operation: the link as it is now, or the error if the operation was rejected."""

    done: Done
    link: Link | None = None
    error: Exception | None = None

    def require_link(self) -> Link:
        """The link. Raises the error of a rejected operation."""
        if self.link is None:
            assert self.error is not None  # one of the two is always there
            raise self.error
        return self.link

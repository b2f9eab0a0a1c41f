"""What may be wrong with a change that a provider tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pymongo.errors import DuplicateKeyError

from backend.domain.accounts.provisioning.groups import ProvisionedGroup
from backend.domain.accounts.provisioning.people import ProvisionedPerson
from backend.domain.errors import RequestError


class ChangedMeanwhile(Exception):
    """Another request has changed it since it was read."""


def check_version(stored: ProvisionedPerson | ProvisionedGroup, expected_version: int) -> None:
    """Raise ChangedMeanwhile unless what is stored has the version that was read."""
    if stored.version != expected_version:
        raise ChangedMeanwhile


class ValueTaken(RequestError):
    """Another of the organization's people, or groups, has one of the values that nobody shares."""

    def __init__(self, attributes: Sequence[str]) -> None:
        super().__init__(f"{' or '.join(attributes)} is taken in this organization")


class MembersUnknown(RequestError):
    """A group was told with members who are no users of the organization."""

    def __init__(self, person_id: str) -> None:
        super().__init__(f"members has {person_id!r}, which is the id of no user here")


@contextmanager
def told_as_taken(attributes: Sequence[str]) -> Iterator[None]:
    """Tell what a unique index refuses as ValueTaken."""
    try:
        yield
    except DuplicateKeyError:
        raise ValueTaken(attributes) from None

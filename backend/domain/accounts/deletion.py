"""The deletion of an organization that an owner has announced, and that any owner can take back in time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.errors import RequestError
from backend.domain.ids import OrgId

# Between the announcement and the deletion: long enough for another owner to see it, on any day.
ANNOUNCED_FOR = timedelta(hours=24)


class DeletionAnnounced(RequestError):
    """The deletion of the organization was announced before."""

    def __init__(self) -> None:
        super().__init__("The deletion of this organization is announced already")


@dataclass(frozen=True, slots=True)
class AnnouncedDeletion:
    """An organization that is to be deleted at `at`, and the address of the owner who asked for that."""

    org_id: OrgId
    asked_by: str
    asked_at: datetime

    @property
    def at(self) -> datetime:
        """When the deletion begins."""
        return self.asked_at + ANNOUNCED_FOR

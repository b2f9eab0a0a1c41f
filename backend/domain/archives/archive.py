"""An archive of an organization: a file that the service makes in the background, and keeps for some days."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from backend.domain.errors import RequestError
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language

# Archives that an organization has at a time. Each may be as large as all of its data.
MOST_ARCHIVES = 3
# What ends without a word, such as a process that is killed for its memory, is tried so many times.
MOST_ATTEMPTS = 3


class ArchiveState(StrEnum):
    """How far an archive has come. Only a ready one can be downloaded."""

    WAITING = "waiting"
    IN_PROGRESS = "in_progress"
    READY = "ready"
    FAILED = "failed"


class ArchiveUnderWay(RequestError):
    """The organization has asked for an archive that is not made yet."""

    def __init__(self) -> None:
        super().__init__("An archive is being made already: wait until it is ready, or delete it")


class DiskNearlyFull(RequestError):
    """There is not enough room on MongoDB's disk. `free` is how many bytes are left."""

    def __init__(self, free: int) -> None:
        super().__init__(
            f"The service's disk is nearly full, with {free / 1e9:.1f} GB left: whoever runs the service has "
            "to make room first"
        )


@dataclass(frozen=True, slots=True)
class Making:
    """An attempt to make an archive: no two have the same `id`."""

    org_id: OrgId
    archive_id: str
    id: str


@dataclass(frozen=True, slots=True)
class ArchiveProgress:
    """How far the making is: documents of each collection that are written, of `total` documents of all."""

    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def written(self) -> int:
        """The documents that are written."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive. `asked_by` names who asked: the address of a member, or a key.

    `language` is that of the mail which tells that it is ready, `mail_to` the address; None where no mail is
    wanted. `size` (in bytes) and `sha256` are those of a ready file, which is deleted at `expires_at`.
    `error` says why a failed one failed. `making_id` changes with each attempt to make it.
    """

    id: str
    org_id: OrgId
    asked_by: str
    asked_at: datetime
    expires_at: datetime
    state: ArchiveState = ArchiveState.WAITING
    language: Language = Language.EN
    mail_to: str | None = None
    progress: ArchiveProgress = field(default_factory=ArchiveProgress)
    ended_at: datetime | None = None
    size: int = 0
    sha256: str = ""
    error: str = ""
    making_id: str = ""
    attempts: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it is still to be made."""
        return self.state in {ArchiveState.WAITING, ArchiveState.IN_PROGRESS}

    @property
    def making(self) -> Making:
        """The attempt that made it, or is about to."""
        return Making(self.org_id, self.id, self.making_id)

    @property
    def file_name(self) -> str:
        """The name under which it is downloaded."""
        return f"waylink-{self.asked_at:%Y-%m-%d}-{self.id[:8]}.jsonl"

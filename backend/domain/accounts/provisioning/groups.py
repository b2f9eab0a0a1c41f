"""Groups that an identity provider tells. By their names they give roles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from backend.domain.ids import OrgId

MOST_GROUPS = 1_000
MOST_GROUP_MEMBERS = 10_000


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """A group of one organization. `member_ids` are ids of provisioned people, each once.

    `version` counts the changes.
    """

    id: str
    org_id: OrgId
    display_name: str
    created_at: datetime
    modified_at: datetime
    external_id: str | None = None
    member_ids: tuple[str, ...] = ()
    version: int = 1

"""Which links of an organization are listed, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.links import LinkState


class LinkOrder(StrEnum):
    """What a list of links is sorted by. Links that are equal in it are sorted by their ids."""

    CREATED = "created"
    MODIFIED = "modified"
    NAME = "name"
    CLICKS_7 = "clicks_7"
    CLICKS_30 = "clicks_30"

    @property
    def by_clicks(self) -> bool:
        """Whether clicks decide, which links themselves do not hold."""
        return self in {LinkOrder.CLICKS_7, LinkOrder.CLICKS_30}


@dataclass(frozen=True, slots=True)
class LinkSort:
    """An order, upwards or downwards."""

    order: LinkOrder
    is_descending: bool


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Leaves the links for which everything holds that is not None.

    `search` is text in name, path or destination, or a complete short URL. Times belong to what is after
    them, not to what is before. Without a state, archived links are left out, unless one is named by its
    `external_id`.
    """

    search: str | None = None
    domain: str | None = None
    state: LinkState | None = None
    tag: str | None = None
    campaign: str | None = None
    external_id: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    modified_after: datetime | None = None
    modified_before: datetime | None = None

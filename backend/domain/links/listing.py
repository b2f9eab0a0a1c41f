"""Which links of an organization are listed, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import HostName, Moment, Rule, Schema, Text, Word
from backend.domain.links.input import EXTERNAL_ID
from backend.domain.links.links import CreatedBy, LinkState


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


NEWEST_FIRST = LinkSort(LinkOrder.CREATED, is_descending=True)


class SortRule:
    """What a list is sorted by, with `-` before it for descending."""

    def parse(self, field: str, value: object) -> LinkSort:
        """The order and its direction. Raises InvalidField."""
        text = str(value)
        order = Word(LinkOrder).parse(field, text.removeprefix("-"))
        return LinkSort(LinkOrder(order), text.startswith("-"))

    def schema(self) -> Schema:
        """JSON Schema of all orders, in both directions."""
        words = [order.value for order in LinkOrder]
        return {"type": "string", "enum": [*words, *(f"-{word}" for word in words)], "default": "-created"}


@dataclass(frozen=True, slots=True)
class LinkFilter:
    """Which links are listed: those for which every field holds that is not None.

    `search` is text in name, path or destination, or a complete short URL. The times of `created_after` and
    `modified_after` are included, those of `created_before` and `modified_before` are not. Without a state,
    archived links are left out, unless one is named by its `external_id`. `reach` is no part of what was
    asked: the links that whoever asks may see.
    """

    search: str | None = None
    domain: str | None = None
    state: LinkState | None = None
    tag: str | None = None
    campaign: str | None = None
    external_id: str | None = None
    created_by: CreatedBy | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    modified_after: datetime | None = None
    modified_before: datetime | None = None
    reach: LinkReach | None = None


# How the filters are given, by name.
FILTERS: dict[str, Rule[Any]] = {
    "search": Text(500),
    "domain": HostName(),
    "state": Word(LinkState),
    "tag": ItemName(),
    "campaign": Text(1024),
    "external_id": EXTERNAL_ID,
    "created_by": Word(CreatedBy),
    "created_after": Moment(),
    "created_before": Moment(),
    "modified_after": Moment(),
    "modified_before": Moment(),
}

"""The fields of an endpoint that its organization says, and their rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.feed.events import EventType
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import Flag, Rule, Schema, Uuid, Word
from backend.domain.webhooks.endpoint import Form

MOST_IN_BATCH = 100
MOST_CHOSEN = 100


@dataclass(frozen=True, slots=True)
class Chosen:
    """A list of different values, each by this rule. An empty one chooses nothing, and so leaves all."""

    rule: Rule[Any]

    def parse(self, field: str, value: object) -> tuple[Any, ...]:
        """The values in their order, each once. Raises InvalidField."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list")
        if len(value) > MOST_CHOSEN:
            raise InvalidField(field, f"must have at most {MOST_CHOSEN} values")
        return tuple(dict.fromkeys(self.rule.parse(field, item) for item in value))

    def schema(self) -> Schema:
        """JSON Schema of such a list."""
        return {"type": "array", "items": self.rule.schema(), "maxItems": MOST_CHOSEN}


class BatchSize:
    """How many events a request may have."""

    def parse(self, field: str, value: object) -> int:
        """The number. Raises InvalidField."""
        if type(value) is not int or not 1 <= value <= MOST_IN_BATCH:
            raise InvalidField(field, f"must be a whole number from 1 to {MOST_IN_BATCH}")
        return value

    def schema(self) -> Schema:
        """JSON Schema of the number."""
        return {"type": "integer", "minimum": 1, "maximum": MOST_IN_BATCH}


def endpoint_rules(*, allows_loopback: bool) -> Mapping[str, Rule[Any]]:
    """The rules by the names of the fields; only `url` has to be given, and `tags` are names.

    `allows_loopback`: as the settings say (`allows_loopback_receivers`).
    """
    return {
        "url": ReceiverUrl(allows_loopback),
        "types": Chosen(Word(EventType)),
        "link_ids": Chosen(Uuid()),
        "tags": Chosen(ItemName()),
        "form": Word(Form),
        "batch_size": BatchSize(),
        "is_enabled": Flag(),
    }

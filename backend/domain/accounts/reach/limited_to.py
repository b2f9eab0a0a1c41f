"""The names by which the reach of a key is given, and shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.accounts.reach.link_reach import KINDS, LinkReach
from backend.domain.errors import InvalidField, raise_all, unknown_fields
from backend.domain.fields.item_names import ItemName
from backend.domain.fields.rules import HostName, Rule, Schema, Uuid
from backend.domain.ids import TagId

MOST_NAMED = 100  # of each kind
_RULES: Mapping[str, Rule[str]] = dict(zip(KINDS, (ItemName(), HostName(), Uuid()), strict=True))


def reach_json(reach: LinkReach | None, tag_names: Mapping[TagId, str]) -> dict[str, Any] | None:
    """The reach in names by kind, null for a kind that does not limit; None for no reach.

    `tag_names` has the names of the tags that there are: others are left out.
    """
    if reach is None:
        return None
    tags = None if reach.tags is None else [tag_names[tag_id] for tag_id in reach.tags if tag_id in tag_names]
    return {"tags": tags, "domains": _list(reach.domains), "links": _list(reach.links)}


def limit_in_words(named: Mapping[str, Sequence[str] | None], most: int = MOST_NAMED) -> str:
    """What a limit names by kind, in words: such as `tags agency-a, agency-b; domain go.example`.

    At most `most` of each kind are named.
    """
    words = []
    for kind, names in named.items():
        if names is not None:
            more = f" and {len(names) - most} more" if len(names) > most else ""
            begin = kind.removesuffix("s") if len(names) == 1 else kind
            words.append(f"{begin} {', '.join(names[:most]) or 'that are gone'}{more}")
    return "; ".join(words) or "no link"


def _list(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)


class LimitedTo:
    """The rule for the reach of a new key, in names: an object with tags, domains or ids of links.

    Each kind that is there has at least one name.
    """

    def parse(self, field: str, value: object) -> dict[str, list[str]]:
        """The names by kind, each once. Raises InvalidField."""
        if not isinstance(value, dict) or not value:
            raise InvalidField(field, f"must be an object with some of {', '.join(KINDS)}")
        raise_all(unknown_fields(value, _RULES, f"{field}."))
        return {kind: _names(f"{field}.{kind}", names, _RULES[kind]) for kind, names in value.items()}

    def schema(self) -> Schema:
        """JSON Schema of the object."""
        lists = {
            kind: {"type": "array", "minItems": 1, "maxItems": MOST_NAMED, "items": rule.schema()}
            for kind, rule in _RULES.items()
        }
        return {"type": "object", "minProperties": 1, "properties": lists, "additionalProperties": False}


def _names(field: str, names: object, rule: Rule[str]) -> list[str]:
    if not isinstance(names, list) or not 1 <= len(names) <= MOST_NAMED:
        raise InvalidField(field, f"must be a list of 1 to {MOST_NAMED}")
    parsed = [rule.parse(f"{field}[{place}]", name) for place, name in enumerate(names)]
    return list(dict.fromkeys(parsed))

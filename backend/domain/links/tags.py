"""Tags: names with a colour that an organization gives to any of its links, as folders and labels are used.

Links hold the ids of their tags, so that a tag is renamed or deleted for all of them by one write. An id that
no tag has any more stands for nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import ItemName, name_key
from backend.domain.fields.rules import Schema, parse_string
from backend.domain.ids import OrgId, TagId

MOST_ON_A_LINK = 20
# Of an organization. Two that are made at the same moment may exceed it.
MOST_TAGS = 2_000
# The fields of a request that say which tags a link has, by their names.
TAG_FIELDS = frozenset({"tags", "add_tags", "remove_tags"})
# Names of CSS for colours that can be told apart on light and dark pages.
PALETTE: Mapping[str, str] = {
    "red": "#d64545",
    "orange": "#dd6b20",
    "yellow": "#b7950b",
    "green": "#2f9e44",
    "teal": "#0c8599",
    "blue": "#2f6fde",
    "purple": "#7048e8",
    "pink": "#c2408f",
    "brown": "#8d6e63",
    "gray": "#6c757d",
}


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag. No two of an organization have names that differ in upper and lower case only."""

    id: TagId
    org_id: OrgId
    name: str
    color: str
    created_at: datetime


class TagColor:
    """A colour: six hexadecimal digits behind `#`, or a name of the palette."""

    _HEX = re.compile(r"#[0-9a-f]{6}")

    def parse(self, field: str, value: object) -> str:
        """The colour as `#rrggbb` in lower case. Raises InvalidField."""
        color = parse_string(field, value).lower()
        color = PALETTE.get(color, color)
        if not self._HEX.fullmatch(color):
            raise InvalidField(field, f"must be a colour such as #2f6fde, or one of {', '.join(PALETTE)}")
        return color

    def schema(self) -> Schema:
        """JSON Schema of a colour."""
        return {"type": "string", "pattern": f"^(#[0-9A-Fa-f]{{6}}|{'|'.join(PALETTE)})$"}


class TagNames:
    """The rule for a list of names of tags. A name that is there twice is kept once."""

    _NAME = ItemName()

    def parse(self, field: str, value: object) -> list[str]:
        """The names in their order. Raises InvalidField."""
        if not isinstance(value, list) or len(value) > MOST_ON_A_LINK:
            raise InvalidField(field, f"must be a list of at most {MOST_ON_A_LINK} names of tags")
        names: dict[str, str] = {}
        for item in value:
            name = self._NAME.parse(field, item)
            names.setdefault(name_key(name), name)
        return list(names.values())

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "maxItems": MOST_ON_A_LINK, "items": self._NAME.schema()}


def default_color(name: str) -> str:
    """The colour of a tag for which none was chosen: always the same for a name."""
    colors = list(PALETTE.values())
    return colors[hashlib.sha256(name_key(name).encode()).digest()[0] % len(colors)]


def tags_on(ids: Iterable[TagId], tags: Mapping[TagId, Tag]) -> list[Tag]:
    """The tags with these ids, in their order, without those that are gone."""
    return [tags[tag_id] for tag_id in ids if tag_id in tags]


def changed_tag_ids(
    has: Sequence[TagId], changes: Mapping[str, Any], ids_by_name: Mapping[str, TagId]
) -> list[TagId]:
    """The ids of a link's tags after changes with TAG_FIELDS; it `has` these ids before.

    `ids_by_name` has the organization's tags that the changes name and those that the link has, by the keys
    of their names. Raises InvalidField for a name that is not among them, and for too many tags.
    """
    ids = _ids("tags", changes["tags"] or (), ids_by_name) if "tags" in changes else list(has)
    removed = {*_ids("remove_tags", changes.get("remove_tags", ()), ids_by_name)}
    existing = {*ids_by_name.values()} - removed
    ids += _ids("add_tags", changes.get("add_tags", ()), ids_by_name)
    kept = [tag_id for tag_id in dict.fromkeys(ids) if tag_id in existing]
    if len(kept) > MOST_ON_A_LINK:
        raise InvalidField("add_tags", f"would give the link more than {MOST_ON_A_LINK} tags")
    return kept


def _ids(field: str, names: Iterable[str], ids_by_name: Mapping[str, TagId]) -> list[TagId]:
    for name in names:
        if name_key(name) not in ids_by_name:
            raise InvalidField(field, f"has a tag that was not found: {name}")
    return [ids_by_name[name_key(name)] for name in names]

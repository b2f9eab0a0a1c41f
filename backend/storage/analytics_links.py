"""What links are grouped and filtered by in queries of analytics, as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_query import Field, Query
from backend.domain.ids import LinkId, TagId
from backend.domain.item_names import name_key
from backend.domain.tags import Tag, tags_on
from backend.storage import links
from backend.storage.analytics_reading import Reading
from backend.storage.mongo import Document
from backend.storage.tags import list_tags

# In the order of the query's `link_fields`.
LinkValues = tuple[str | None, ...]
# Of one link: the values of each row that it belongs to. That are several only where tags are grouped by, and
# none where the query's filter of tags leaves the link out.
LinkRows = tuple[LinkValues, ...]
Filters = Mapping[Field, frozenset[str | None]]
UTM = {
    Field.CAMPAIGN: "utm_campaign",
    Field.SOURCE: "utm_source",
    Field.MEDIUM: "utm_medium",
    Field.TERM: "utm_term",
    Field.CONTENT: "utm_content",
}
_PATHS = {Field.LINK: "_id", Field.DOMAIN: "domain", **{each: f"utm.{name}" for each, name in UTM.items()}}
# Links that are read at a time: while the driver decodes them, nobody else gets on.
_AT_ONCE = 2_000


async def read_link_rows(
    asked: Reading, filters: Filters, ids: Iterable[str] | None = None
) -> Mapping[LinkId, LinkRows]:
    """What rows the organization's links belong to that these filters leave, archived ones too.

    With `ids`, only those of these. What the query says of tags holds in any case.
    """
    fields = asked.query.link_fields
    mark = (asked.query.group_by, fields, frozenset(filters.items()))
    if ids is None and mark in asked.links_read:
        return asked.links_read[mark]
    wanted: Document = {"org_id": asked.org_id}
    for each, values in filters.items():
        if each in _PATHS:
            wanted[_PATHS[each]] = {"$in": list(values)}
    if ids is not None:
        wanted["_id"] = {"$in": list(ids)}
    tags = await _read_tags(asked)
    shown = dict.fromkeys((_PATHS.get(each, "tag_ids") for each in fields), 1) | {"_id": 1}
    cursor = asked.database[links.NAME].find(wanted, shown, session=asked.session).batch_size(_AT_ONCE)
    found: dict[LinkId, LinkRows] = {}
    while documents := await cursor.to_list(_AT_ONCE):
        found |= await beside_the_loop(partial(_all_rows, documents, fields, tags))
    if ids is None:
        asked.links_read[mark] = found
    return found


@dataclass(frozen=True, slots=True)
class _TagRows:
    """Which tags there are, and which of them the query leaves, by the keys of their names; None: all."""

    known: Mapping[TagId, Tag]
    only: frozenset[str | None] | None
    is_grouped_by: bool

    def of(self, ids: Iterable[TagId]) -> list[str | None]:
        """The tag of each row of a link with these, None if it has none; nothing if it is left out."""
        names: list[str | None] = [tag.name for tag in tags_on(ids, self.known)]
        left = [each for each in names or [None] if self.only is None or _key(each) in self.only]
        return left if self.is_grouped_by else left[:1]


async def _read_tags(asked: Reading) -> _TagRows | None:
    """What is to be known of tags, as of the moment of the reading."""
    query: Query = asked.query
    if Field.TAG not in query.link_fields:
        return None
    only = query.filters.get(Field.TAG)
    known = await list_tags(asked.database, asked.org_id, asked.session)
    return _TagRows(
        {each.id: each for each in known},
        None if only is None else frozenset(map(_key, only)),
        is_grouped_by=Field.TAG in query.group_by,
    )


def _key(name: str | None) -> str | None:
    return None if name is None else name_key(name)


def _all_rows(
    documents: Iterable[Document], fields: tuple[Field, ...], tags: _TagRows | None
) -> dict[LinkId, LinkRows]:
    return {each["_id"]: _rows(each, fields, tags) for each in documents}


def _rows(document: Document, fields: tuple[Field, ...], tags: _TagRows | None) -> LinkRows:
    if tags is None:
        return (tuple(_value(document, name) for name in fields),)
    return tuple(
        tuple(tag if name is Field.TAG else _value(document, name) for name in fields)
        for tag in tags.of(document.get("tag_ids", ()))
    )


def _value(document: Document, field: Field) -> str | None:
    if field in UTM:
        found: str | None = document.get("utm", {}).get(UTM[field])
    else:
        found = document.get(_PATHS[field])
    return found

"""What links are grouped and filtered by in queries of analytics, as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from typing import Any

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
LinkFilters = Mapping[Field, frozenset[str | None]]
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
    asked: Reading, filters: LinkFilters, ids: Iterable[LinkId] | None = None
) -> Mapping[LinkId, LinkRows]:
    """What rows the organization's links belong to that these filters leave, archived ones too.

    With `ids`, only those of these. What the query says of tags holds in any case.
    """
    mark = ("rows", asked.query.group_by, asked.query.link_fields, frozenset(filters.items()))
    if ids is None:
        return await asked.shared.once(mark, partial(_read_rows, asked, filters, None))
    return await _read_rows(asked, filters, ids)


async def _read_rows(
    asked: Reading, filters: LinkFilters, ids: Iterable[LinkId] | None
) -> Mapping[LinkId, LinkRows]:
    stored = {each: values for each, values in filters.items() if each in _PATHS}
    fields = asked.shared.link_fields.union(asked.query.link_fields)
    read = partial(_read_facts, asked, stored, sorted(fields), ids)
    what = ("links", fields, frozenset(stored.items()))
    facts = await (asked.shared.once(what, read) if ids is None else read())
    tags = await _read_tags(asked)
    return await beside_the_loop(partial(_all_rows, facts, asked.query.link_fields, tags))


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of links: for each, values of these fields, in their order; of tags, their ids."""

    fields: Sequence[Field]
    values: dict[LinkId, tuple[Any, ...]] = dataclass_field(default_factory=dict)

    def add(self, documents: Iterable[Document]) -> None:
        """Add links as they are stored."""
        for each in documents:
            self.values[each["_id"]] = tuple(_value(each, name) for name in self.fields)


async def _read_facts(
    asked: Reading, stored: LinkFilters, fields: Sequence[Field], ids: Iterable[LinkId] | None
) -> _Facts:
    """What there is to know of the links that these filters leave, or of these."""
    wanted: Document = {"org_id": asked.org_id}
    wanted |= {_PATHS[each]: {"$in": list(values)} for each, values in stored.items()}
    if ids is not None:
        wanted["_id"] = {"$in": list(ids)}
    facts = _Facts(fields)
    shown = dict.fromkeys((_PATHS.get(each, "tag_ids") for each in facts.fields), 1) | {"_id": 1}
    cursor = asked.database[links.NAME].find(wanted, shown, session=asked.session).batch_size(_AT_ONCE)
    while documents := await cursor.to_list(_AT_ONCE):
        await beside_the_loop(partial(facts.add, documents))
    return facts


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


def _all_rows(facts: _Facts, fields: Sequence[Field], tags: _TagRows | None) -> dict[LinkId, LinkRows]:
    places = [facts.fields.index(each) for each in fields]
    if tags is None:
        return {link_id: (tuple(of[at] for at in places),) for link_id, of in facts.values.items()}
    tag_at = facts.fields.index(Field.TAG)
    return {
        link_id: tuple(tuple(tag if at == tag_at else of[at] for at in places) for tag in tags.of(of[tag_at]))
        for link_id, of in facts.values.items()
    }


def _value(document: Document, field: Field) -> Any:
    if field in UTM:
        return document.get("utm", {}).get(UTM[field])
    return document.get("tag_ids", ()) if field is Field.TAG else document.get(_PATHS[field])

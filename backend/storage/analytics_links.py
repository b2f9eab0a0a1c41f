"""What links are grouped and filtered by in queries of analytics, as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from backend.domain.analytics_query import Field
from backend.domain.ids import LinkId
from backend.storage import links
from backend.storage.analytics_reading import Reading
from backend.storage.mongo import Document

# Of one link: its values in the order of the query's `link_fields`.
LinkValues = tuple[str | None, ...]
Filters = Mapping[Field, frozenset[str | None]]
UTM = {
    Field.CAMPAIGN: "utm_campaign",
    Field.SOURCE: "utm_source",
    Field.MEDIUM: "utm_medium",
    Field.TERM: "utm_term",
    Field.CONTENT: "utm_content",
}
_PATHS = {Field.LINK: "_id", Field.DOMAIN: "domain", **{each: f"utm.{name}" for each, name in UTM.items()}}
_AT_ONCE = 10_000


async def read_link_values(
    asked: Reading, filters: Filters, ids: Iterable[str] | None = None
) -> dict[LinkId, LinkValues]:
    """The values of the organization's links that the filters leave, archived ones too.

    With `ids`, only those of these.
    """
    fields = asked.query.link_fields
    wanted: Document = {"org_id": asked.org_id}
    for each, values in filters.items():
        if each in _PATHS:
            wanted[_PATHS[each]] = {"$in": list(values)}
    if ids is not None:
        wanted["_id"] = {"$in": list(ids)}
    shown = dict.fromkeys((_PATHS[each] for each in fields), 1) | {"_id": 1}
    cursor = asked.database[links.NAME].find(wanted, shown, session=asked.session).batch_size(_AT_ONCE)
    found: dict[LinkId, LinkValues] = {}
    while documents := await cursor.to_list(_AT_ONCE):
        found |= {each["_id"]: tuple(_value(each, name) for name in fields) for each in documents}
    return found


def _value(document: Document, field: Field) -> str | None:
    if field in UTM:
        found: str | None = document.get("utm", {}).get(UTM[field])
    else:
        found = document.get(_PATHS[field])
    return found

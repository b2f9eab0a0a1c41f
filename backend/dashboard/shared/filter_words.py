"""The filters of a report in words: its readers have to know what its figures are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from backend.dashboard.analytics.tables import NAMES, name_of
from backend.domain.analytics.answer import NamedLink
from backend.domain.analytics.query import Field, Filter, Not, Prefix, Query, QueryField
from backend.domain.ids import LinkId, OrgId
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links

# Of one filter; further values are counted.
_MOST_NAMED = 10
Links = Mapping[LinkId, NamedLink]


async def filters_in_words(database: Database, org_id: OrgId, query: Query) -> list[tuple[str, str]]:
    """Pairs of what is filtered and what is left, such as ("Campaign", "spring or summer")."""
    links = await _links(database, org_id, query.filters.get(Field.LINK))
    return [(field_name(by), _in_words(by, chosen, links)) for by, chosen in query.filters.items()]


def field_name(by: QueryField) -> str:
    """What people call a field."""
    return NAMES.get(by) or by.value.replace("_", " ").capitalize()


def _in_words(by: QueryField, chosen: Filter, links: Links) -> str:
    match chosen:
        case Prefix(text):
            return f"begins with {text}"
        case Not(values):
            return f"not {_listed(by, values, links)}"
    return _listed(by, chosen, links)


def _listed(by: QueryField, values: Collection[str | None], links: Links) -> str:
    names = sorted(name_of(by, value, links) for value in values)
    if len(names) > _MOST_NAMED:
        names = [*names[:_MOST_NAMED], f"{len(names) - _MOST_NAMED} more"]
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


async def _links(database: Database, org_id: OrgId, chosen: Filter | None) -> Links:
    """The organization's links that a filter names."""
    if chosen is None or isinstance(chosen, Prefix):
        return {}
    ids = chosen.values if isinstance(chosen, Not) else chosen
    found = await find_links(database, [LinkId(link_id) for link_id in ids if link_id], org_id)
    return {link.id: NamedLink(link.domain, link.path, link.link_name) for link in found.values()}

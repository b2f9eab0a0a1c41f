"""The filters of a report in words: its readers have to know what its figures are of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from backend.dashboard.analytics.tables import name_of
from backend.domain.analytics.answer import NamedLink
from backend.domain.analytics.filter_words import filter_words
from backend.domain.analytics.query import Field, Filter, Not, Prefix, field_label
from backend.domain.ids import LinkId, OrgId
from backend.domain.reports.views import ReportView
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links

Links = Mapping[LinkId, NamedLink]


async def filters_in_words(database: Database, org_id: OrgId, view: ReportView) -> list[tuple[str, str]]:
    """Pairs of what is filtered and what is left, such as ("Campaign", "spring or summer").

    Those of a funnel's steps are told with the steps.
    """
    if view.links:
        return view.links.filter_words
    if not view.queries:
        return []
    query = view.queries[-1]
    links = await _links(database, org_id, query.filters.get(Field.LINK))
    return [
        (field_label(by), filter_words(chosen, partial(name_of, by, links=links)))
        for by, chosen in query.filters.items()
    ]


async def _links(database: Database, org_id: OrgId, chosen: Filter | None) -> Links:
    """The organization's links that a filter names."""
    if chosen is None or isinstance(chosen, Prefix):
        return {}
    ids = chosen.values if isinstance(chosen, Not) else chosen
    found = await find_links(database, [LinkId(link_id) for link_id in ids if link_id], org_id)
    return {link.id: NamedLink(link.domain, link.path, link.link_name) for link in found.values()}

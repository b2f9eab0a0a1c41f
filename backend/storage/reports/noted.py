"""What an organization noted about the time of a chart or a report, and when its link was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import Field, Query, QueryField
from backend.domain.annotations.annotation import ANNOTATIONS, Annotation, times_around
from backend.domain.annotations.link_change import LinkChange
from backend.domain.ids import LinkId, OrgId
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.link_changes import LinkChanges
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links
from backend.storage.resources.things import Things


@dataclass(frozen=True, slots=True)
class Noted:
    """What was noted about a period: notes, the names of the links that they are of, and a link's changes."""

    notes: Sequence[Annotation]
    link_names: Mapping[LinkId, str]
    changes: Sequence[LinkChange]

    def link_name(self, note: Annotation) -> str:
        """The name of the link that the note is of; "" if it is of none, or of one that is gone."""
        return self.link_names.get(note.link_id, "") if note.link_id else ""


async def read_noted(
    database: Database,
    analytics: Analytics,
    org_id: OrgId,
    period: QueryPeriod,
    filters: Mapping[QueryField, str | None],
) -> Noted:
    """The notes of this period.

    Notes of links are among them where nothing is filtered, and those of the link that is filtered to, which
    then has its changes too.
    """
    link_id = LinkId(filters.get(Field.LINK) or "")
    around = times_around(period.start, period.end)
    notes = [
        note
        for note in await Things(ANNOTATIONS).list(database, org_id, around)
        if note.link_id in {None, link_id} or not filters
    ]
    links = await find_links(database, {note.link_id for note in notes if note.link_id}, org_id)
    question = LinkChanges(link_id, period.start, period.end)
    changes = await analytics.ask(org_id, question) if link_id else []
    return Noted(notes, {link.id: link.link_name for link in links.values()}, changes)


async def read_noted_of(database: Database, analytics: Analytics, org_id: OrgId, query: Query) -> Noted:
    """What was noted about the time and the filters of the query."""
    return await read_noted(database, analytics, org_id, query.period, _single_values(query))


def _single_values(query: Query) -> dict[QueryField, str | None]:
    """What each filter leaves if that is one value; else None, as what has no value."""
    return {
        by: next(iter(chosen)) if isinstance(chosen, frozenset) and len(chosen) == 1 else None
        for by, chosen in query.filters.items()
    }

"""What is read for a query of analytics: of whom, in which spans of time, and as of which moment."""

from __future__ import annotations

from dataclasses import dataclass

from backend.domain.analytics_query import Query
from backend.domain.ids import OrgId
from backend.domain.query_period import Spans
from backend.storage.mongo import ClientSession, Database


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: of the query's period, or of the one that it is compared with.

    `session` shows everything as it was at one moment.
    """

    database: Database
    org_id: OrgId
    query: Query
    spans: Spans
    session: ClientSession

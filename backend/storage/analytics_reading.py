"""What is read for a query of analytics: of whom, in which spans of time, and as of which moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.domain.analytics_query import Query
from backend.domain.ids import LinkId, OrgId
from backend.domain.query_period import Spans
from backend.storage.mongo import ClientSession, Database


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: of the query's period, or of the one that it is compared with.

    `session` shows everything as it was at one moment. Without `has_total`, clicks are counted in rows only.
    `links_read` keeps what was read of links, for all readings of one answer.
    """

    database: Database
    org_id: OrgId
    query: Query
    spans: Spans
    session: ClientSession
    has_total: bool = True
    links_read: dict[Any, Mapping[LinkId, Any]] = field(default_factory=dict)

"""What is read for queries of analytics: of whom, in which spans of time, and as of which moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from backend.domain.analytics_query import Field, Query
from backend.domain.ids import OrgId
from backend.domain.query_period import Spans
from backend.storage.mongo import ClientSession, Database

ReadT = TypeVar("ReadT")


@dataclass(frozen=True, slots=True)
class Shared:
    """What several readings of one organization at one moment have in common, and what was read for them.

    `link_fields` are all that any of them needs to know of links.
    """

    link_fields: frozenset[Field] = frozenset()
    _read: dict[Hashable, Any] = field(default_factory=dict)

    async def once(self, what: Hashable, read: Callable[[], Awaitable[ReadT]]) -> ReadT:
        """What `read` gives for this, read the first time only."""
        if what not in self._read:
            self._read[what] = await read()
        found: ReadT = self._read[what]
        return found


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: of the query's period, or of the one that it is compared with.

    `session` shows everything as it was at one moment. Without `has_total`, clicks are counted in rows only.
    `shared` keeps what other readings need as well.
    """

    database: Database
    org_id: OrgId
    query: Query
    spans: Spans
    session: ClientSession
    has_total: bool = True
    shared: Shared = field(default_factory=Shared)

"""Reads the audit log: the entries of the feed that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from bson import Timestamp

from backend.domain.audit.entries import AuditEntry, entry_of
from backend.domain.feed.cursor import START, Cursor
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database, Document
from backend.storage.outbox import entries, heads
from backend.storage.outbox.marks import check_cursor, cursor_before, mark_of
from backend.storage.outbox.sequencer import place_all

_LAST_SECOND = 2**32 - 1  # that a stamp can have


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries are read: of one actor (an id, or a kind such as `service`), of an action (whole, or of
    all of a kind of targets, such as `link`), of the target with this id, from `start` up to before `end`.

    None stands for all.
    """

    actor: str | None = None
    action: str | None = None
    target: str | None = None
    start: datetime | None = None
    end: datetime | None = None

    def query(self) -> Document:
        """The query for entries of the feed that have such facts."""
        query: Document = {}
        if self.start:
            query.setdefault("stamp", {})["$gte"] = _stamp(self.start)
        if self.end:
            query.setdefault("stamp", {})["$lt"] = _stamp(self.end)
        fact: Document = {}
        if self.target is not None:
            fact["target.id"] = self.target
        if self.actor is not None:
            fact["$or"] = [{"actor.id": self.actor}, {"actor.kind": self.actor}]
        if self.action is not None:
            fact["action" if "." in self.action else "target.kind"] = self.action
        return query | ({"facts": {"$elemMatch": fact}} if fact else {})

    def has(self, fact: Fact) -> bool:
        """Whether the fact is one of them, of an entry that the query finds."""
        actor, target = fact["actor"], fact["target"]
        return (
            self.actor in (None, actor["id"], actor["kind"])
            and self.action in (None, fact["action"], target["kind"])
            and self.target in (None, target["id"])
        )


@dataclass(frozen=True, slots=True)
class LogPage:
    """Entries, and where to go on behind them; `has_more` says whether there are more now."""

    entries: Sequence[AuditEntry]
    next_cursor: Cursor
    has_more: bool


async def read_on(database: Database, org_id: OrgId, chosen: LogFilter, after: Cursor, limit: int) -> LogPage:
    """At most `limit` of the chosen entries behind the cursor, the oldest first. Raises FeedPutBack."""
    await place_all(database, org_id)
    await check_cursor(database, org_id, after)
    head = (await heads.find_heads(database, [org_id]))[org_id]
    places = {"$gte": after.place, "$lte": head}
    page = await _read(database, _query(org_id, chosen, places), chosen, after, limit)
    if page.has_more:
        return page
    end = after if after >= Cursor(head + 1) else await cursor_before(database, org_id, head + 1)
    return LogPage(page.entries, end, has_more=False)


async def read_back(
    database: Database, org_id: OrgId, chosen: LogFilter, before: Cursor | None, limit: int
) -> LogPage:
    """At most `limit` of the chosen entries before the cursor, or of all, the newest first."""
    await place_all(database, org_id)
    places: Document = {"$lte": before.place} if before else {"$exists": True}
    return await _read(database, _query(org_id, chosen, places), chosen, before, limit, direction=-1)


def _query(org_id: OrgId, chosen: LogFilter, places: Document) -> Document:
    return {"org_id": org_id, **entries.AUDIT_ENTRIES, "place": places, **chosen.query()}


async def _read(
    database: Database,
    query: Document,
    chosen: LogFilter,
    cursor: Cursor | None,
    limit: int,
    *,
    direction: int = 1,
) -> LogPage:
    found: list[AuditEntry] = []
    at = cursor or START
    documents = database[entries.NAME].find(query).sort("place", direction).batch_size(limit + 2)
    async for document in documents:
        for place, index, fact in _facts(document, direction):
            here, behind = Cursor(place, index), Cursor(place, index + 1, mark_of(document))
            is_read = cursor and (here < cursor if direction > 0 else here >= cursor)
            if is_read or not chosen.has(fact):
                continue
            if len(found) == limit:
                return LogPage(found, at, has_more=True)
            own_id = document["_id"].partition("/")[2]
            found.append(entry_of(fact, f"{own_id}-{index}", document["stamp"].as_datetime()))
            at = behind if direction > 0 else here
    return LogPage(found, at, has_more=False)


def _facts(document: Document, direction: int) -> Iterator[tuple[int, int, Fact]]:
    """The facts of an entry with their places, in this direction."""
    for index, fact in list(enumerate(document["facts"]))[::direction]:
        yield document["place"], index, fact


def _stamp(moment: datetime) -> Timestamp:
    """The first stamp from this moment on; entries have whole seconds."""
    whole = moment.replace(microsecond=0)
    seconds = int(whole.timestamp()) + (whole < moment)
    return Timestamp(min(max(0, seconds), _LAST_SECOND), 0)

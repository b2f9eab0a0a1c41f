"""ClickHouse as a target: events are written first, and then the cursor behind them.

Events of a page that a killed run did not finish are deleted by the next run, or replaced by those that it
writes under the same organization, place and index (`tables`). Two followers of one organization write the
same rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from itertools import groupby
from typing import Any

from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import Event, EventType
from backend.follow.clickhouse.server import ClickHouseServer
from backend.follow.clickhouse.tables import COLUMNS, statements
from backend.follow.erasures import without_person
from backend.follow.event_lines import as_json
from backend.follow.event_rows import row_of
from backend.follow.target import FollowedFeed, TakenBack, check_same, entry_of

_FIND = """
SELECT types, `cursor` FROM waylink_cursors FINAL WHERE org_id = {org_id:UUID} FORMAT JSONCompactEachRow
"""
_MOVE = "INSERT INTO waylink_cursors (org_id, types, `cursor`) FORMAT JSONEachRow"
_ADD = "INSERT INTO waylink_events FORMAT JSONEachRow"
_LAST_ENTRIES = """
SELECT place, min(id) FROM waylink_events FINAL WHERE org_id = {org_id:UUID} AND place <= {place:UInt64}
GROUP BY place ORDER BY place DESC LIMIT {limit:UInt64} FORMAT JSONCompactEachRow
"""
_BEHIND = "org_id = {org_id:UUID} AND (place, `index`) > ({place:UInt64}, {index:UInt32})"
_COUNT_BEHIND = f"""
SELECT count(), countIf(type = 'erased') FROM waylink_events FINAL WHERE {_BEHIND} FORMAT JSONCompactEachRow
"""  # noqa: S608 - of constants
_DELETE_BEHIND = f"DELETE FROM waylink_events WHERE {_BEHIND}"  # noqa: S608 - of constants
# The rows that name the person.
_OWN_ROWS = """
    customer_id IN {customers:Array(String)} OR device_id IN {devices:Array(String)}
    OR install_id IN {installs:Array(String)} OR email_sha256 IN {emails_sha256:Array(String)}
    OR (type = 'identify' AND hasAny(
        JSONExtract(ifNull(emails_sha256, '[]'), 'Array(String)'), {emails_sha256:Array(String)}
    ))
"""
# The rows of a shared device in a period, without those that name a customer.
_SHARED_ROWS = """
    device_id = {device_id:String} AND customer_id IS NULL
    AND at >= ifNull(parseDateTime64BestEffortOrNull({from:Nullable(String)}, 6, 'UTC'), toDateTime64(0, 6))
    AND at < ifNull(
        parseDateTime64BestEffortOrNull({to:Nullable(String)}, 6, 'UTC'), toDateTime64('2299-01-01', 6)
    )
"""
_LISTS = ("customers", "devices", "installs", "emails_sha256")


class ClickHouseTarget:
    """Writes into the database at `address` (`ClickHouseServer`).

    Deletes the rows of people who are erased.
    """

    needs: Set[EventType] = frozenset({EventType.ERASED})

    def __init__(self, address: str) -> None:
        self._server = ClickHouseServer(address)
        self._followed: FollowedFeed | None = None
        self._cursor = ""

    async def open(self, followed: FollowedFeed) -> Cursor:
        """Connect, create missing tables, and return the stored cursor."""
        self._followed = followed
        await self._server.open()
        columns_of_views = dict(map(json.loads, (await self._server.run(COLUMNS)).splitlines()))
        for statement in statements(columns_of_views):
            await self._server.run(statement)
        answer = await self._server.run(_FIND, {"org_id": followed.org_id})
        if not answer:
            await self._move(str(followed.after))
            return followed.after
        types, self._cursor = json.loads(answer)
        check_same(followed.org_id, json.loads(types), followed, "the database")
        cursor = Cursor.parse(self._cursor)
        await self._cut_off(cursor)
        return cursor

    async def write(self, events: Sequence[Event], cursor: Cursor) -> None:
        """Write the events, and then the cursor."""
        if str(cursor) == self._cursor:
            return
        for is_erasure, group in groupby(events, lambda event: event.type is EventType.ERASED):
            if is_erasure:
                await self._erase(list(group))
            else:
                await self._add(list(group))
        await self._move(str(cursor))

    async def last_entries(self, place: int, limit: int) -> Mapping[int, str]:
        """The last entries up to this place of which there are rows."""
        assert self._followed is not None
        parameters = {"org_id": self._followed.org_id, "place": str(place), "limit": str(limit)}
        rows = map(json.loads, (await self._server.run(_LAST_ENTRIES, parameters)).splitlines())
        return {int(place): entry_of(event_id) for place, event_id in rows}

    async def go_back(self, cursor: Cursor) -> TakenBack:
        """Delete the rows behind the cursor, and then move the stored one there."""
        taken = await self._cut_off(cursor)
        await self._move(str(cursor))
        return taken

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._server.close()

    async def _cut_off(self, cursor: Cursor) -> TakenBack:
        """Delete the rows behind the cursor, such as those of a page that a killed run did not finish.

        The feed may have other events there by now.
        """
        assert self._followed is not None
        behind = {"org_id": self._followed.org_id, "place": str(cursor.place), "index": str(cursor.index)}
        taken = TakenBack(*map(int, json.loads(await self._server.run(_COUNT_BEHIND, behind))))
        if taken.events:
            await self._server.run(_DELETE_BEHIND, behind)
        return taken

    async def _move(self, cursor: str) -> None:
        assert self._followed is not None
        row = {
            "org_id": self._followed.org_id,
            "types": json.dumps(self._followed.named_types),
            "cursor": cursor,
        }
        await self._server.run(_MOVE, rows=as_json(row))
        self._cursor = cursor

    async def _add(self, events: Sequence[Event]) -> None:
        lines = [as_json(row_of(event) | {"org_id": event.org_id}) for event in events]
        await self._server.run(_ADD, rows="\n".join(lines))

    async def _erase(self, events: Sequence[Event]) -> None:
        """Delete the rows of these people, and keep rows of the erasures without their names."""
        for event in events:
            person = {name: list(event.data.get(name) or ()) for name in _LISTS}
            await self._delete(_OWN_ROWS, person)
            for shared in event.data.get("shared_devices") or ():
                for time in shared["times"]:
                    await self._delete(_SHARED_ROWS, {"device_id": shared["device_id"], **time})
        assert self._followed is not None
        if EventType.ERASED in self._followed.types:
            await self._add([without_person(event) for event in events])

    async def _delete(self, condition: str, values: Mapping[str, Any]) -> None:
        """Delete these rows. Refunds, which name nobody, go before the sales by which they are found."""
        assert self._followed is not None
        of_org = "org_id = {org_id:UUID}"
        sold = f"{of_org} AND type = 'conversion' AND ({condition})"
        sales = f"SELECT conversion_id FROM waylink_events WHERE {sold}"  # noqa: S608 - of constants
        parameters = {"org_id": self._followed.org_id, **values}
        for rows in (f"type = 'refund' AND conversion_id IN ({sales})", condition):
            await self._server.run(f"DELETE FROM waylink_events WHERE {of_org} AND ({rows})", parameters)  # noqa: S608 - of constants

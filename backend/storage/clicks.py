"""The `clicks` collection: one record for each answered request for a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from pymongo import IndexModel
from pymongo.errors import DuplicateKeyError

from backend.domain.clicks import Click
from backend.storage.click_counts import add_counts
from backend.storage.click_logs import AlreadyShipped, Moved, advance, shipped_position
from backend.storage.collection import Collection, NoRetention, NotPersonal
from backend.storage.deferred_links import add_handoffs
from backend.storage.mongo import ClientSession, Database, Document, in_transaction, until_confirmed
from backend.storage.ownership import ByLink

NAME = "clicks"
# The handoff is not part of a click's record: the record is kept longer. A visitor's hash is for counting.
_FACTS = [item.name for item in fields(Click) if item.name not in {"id", "visitor", "handoff"}]
# Seconds. Visits that did not count explain low figures; reports look back thirty days.
UNCOUNTED_KEPT = 90 * 24 * 60 * 60
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("link_id", 1), ("counted", 1), ("at", 1)]),
        IndexModel("at", expireAfterSeconds=UNCOUNTED_KEPT, partialFilterExpression={"counted": False}),
    ],
    owned_by=ByLink("link_id"),
    personal=NotPersonal("a click names neither an address nor a device nor a customer"),
    retention=NoRetention("it names nobody"),
)


async def ship_clicks(database: Database, log_id: str, start: int, end: int, clicks: Sequence[Click]) -> None:
    """Store and count the clicks between bytes `start` and `end` of a click log: all, and only once.

    Raises AlreadyShipped if the log was already stored beyond `start`; then nothing changes. After a
    StorageError, either nothing was stored or the next try raises AlreadyShipped.
    """

    async def work(session: ClientSession) -> None:
        await advance(database, session, log_id, start, end)
        if clicks:
            await database[NAME].insert_many([_to_document(click) for click in clicks], session=session)
        await add_handoffs(database, session, clicks)
        counted = [(click.org_id, click.link_id, click.at) for click in clicks if click.counted]
        await add_counts(database, session, counted)

    while True:
        try:
            await in_transaction(database, work)
        except (DuplicateKeyError, Moved):
            await until_confirmed(database)
        else:
            return
        if (position := await shipped_position(database, log_id)) > start:
            raise AlreadyShipped(position)


def _to_document(click: Click) -> Document:
    # Not asdict: its deep copy took longer than everything else for a click.
    facts = {name: value for name in _FACTS if (value := getattr(click, name)) is not None}
    return {"_id": click.id, **facts}

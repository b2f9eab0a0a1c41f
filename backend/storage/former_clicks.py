"""Moves the documents of `clicks`, one for each click, into blocks, a batch at a time.

A batch is deleted and stored as blocks in one transaction, so a move that is interrupted goes on with what is
left. Versions that stored such documents had counted them; the fold of these blocks adds what their counts
lack (`counted_before`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.click_block import Block, blocks_of, check_fits
from backend.domain.clicks import Click
from backend.domain.destination import Outcome
from backend.domain.ids import LinkId, OrgId
from backend.storage import click_blocks, clicks, organizations
from backend.storage.mongo import ClientSession, Database, Document, in_transaction

_MOST = 2_000  # clicks in a batch
_logger = logging.getLogger(__name__)


class _Changed(Exception):
    """Others have moved or deleted some of the documents."""


class FormerClicks:
    """The documents that wait to be moved. `is_done`: the last look found none that can be."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._after = ""  # ids up to this one were looked at
        self._has_told = False
        self.is_done = True

    def look(self) -> None:
        """Look again for documents, from the first one: an archive of a former version may bring some."""
        self._after = ""
        self.is_done = False

    async def move(self) -> Sequence[Block]:
        """Move the next batch. Returns the blocks that were stored. Raises StorageError."""
        after = {"_id": {"$gt": self._after}}
        found = await self._database[clicks.NAME].find(after, sort=[("_id", 1)], limit=_MOST).to_list(None)
        if not found:
            self.is_done = True
            return []
        ready = await self._ready(found)
        ids = [document["_id"] for document, _ in ready]
        clicks_in_order = sorted((click for _, click in ready), key=lambda click: click.at)
        blocks = await beside_the_loop(partial(blocks_of, clicks_in_order))
        try:
            await in_transaction(self._database, lambda session: self._replace(session, ids, blocks))
        except _Changed:
            return []
        self._after = found[-1]["_id"]
        return blocks

    async def _ready(self, found: Sequence[Document]) -> list[tuple[Document, Click]]:
        """The documents that can be moved, with the click that each one is.

        Those of an organization that does not exist stay: it is being restored, which goes by their ids.
        """
        org_ids = {OrgId(each["org_id"]) for each in found}
        known = {each.id for each in await organizations.find_organizations(self._database, org_ids)}
        ready = []
        for document in found:
            if document["org_id"] in known:
                try:
                    check_fits(click := _click(document))
                except (KeyError, TypeError, ValueError) as error:
                    self._tell(document, error)
                else:
                    ready.append((document, click))
        return ready

    def _tell(self, document: Document, error: Exception) -> None:
        if not self._has_told:
            _logger.error("The click %s of an earlier version can't be moved: %r", document["_id"], error)
        self._has_told = True

    async def _replace(self, session: ClientSession, ids: Sequence[str], blocks: Sequence[Block]) -> None:
        if not ids:
            return
        deleted = await self._database[clicks.NAME].delete_many({"_id": {"$in": ids}}, session=session)
        if deleted.deleted_count != len(ids):
            raise _Changed
        await click_blocks.insert_counted(self._database, session, blocks)


async def count_former_clicks(database: Database) -> int:
    """How many documents of clicks wait to be moved, about."""
    return await database[clicks.NAME].estimated_document_count()


def _click(document: Document) -> Click:
    """Raises KeyError, TypeError and ValueError for a document that is no click."""
    return Click(
        org_id=OrgId(document["org_id"]),
        link_id=LinkId(document["link_id"]),
        at=document["at"].astimezone(UTC),
        counted=document.get("reason") is None,
        reason=document.get("reason"),
        outcome=Outcome(document["outcome"]),
        platform=document["platform"],
        system=document["system"],
        browser=document["browser"],
        client_kind=document["client_kind"],
        country=document.get("country"),
        referrer_host=document.get("referrer_host"),
    )

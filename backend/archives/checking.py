"""Checks each document of an archive as a restore does, and reads an archive back that was just written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from backend.archives.archive_file import (
    ArchiveSource,
    Entry,
    RefusedArchive,
    check_whole,
    read_entries,
    read_header,
)
from backend.archives.link_loops import LinkLoops
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.archive_context import ArchiveContext
from backend.storage.lifecycle.archived_documents.check import BrokenRule, check_document

_REPORTED_PROBLEMS = 20


class DocumentChecks:
    """The rules of all documents of an archive, and what breaks them.

    `is_api_host` says which host names can't be link domains.
    """

    def __init__(
        self, database: Database, context: ArchiveContext, is_api_host: Callable[[str], bool]
    ) -> None:
        self._context = context
        self._is_api_host = is_api_host
        self._problems: list[str] = []
        self._link_loops = LinkLoops(database, context.domains)
        self.total = 0

    async def check(self, entry: Entry) -> None:
        """Note a document that breaks a rule."""
        try:
            check_document(entry.collection, entry.document, self._context, self._is_api_host)
        except BrokenRule as error:
            self._report(f"line {entry.line}, {entry.collection}: {error}")
        else:
            await self._link_loops.add(entry)

    async def finish(self) -> None:
        """Raise RefusedArchive if documents broke rules, or links lead in circles."""
        async for link_id, field in self._link_loops.find_loops():
            self._report(f"link {link_id}: {field} must not lead back to the link's own short URL")
        if self.total:
            raise RefusedArchive(self._problems, self.total)

    def _report(self, problem: str) -> None:
        self.total += 1
        if self.total <= _REPORTED_PROBLEMS:
            self._problems.append(problem)


async def read_back(database: Database, source: ArchiveSource, now: datetime) -> None:
    """Read an archive that was just written, as whoever restores it will.

    `database` is the one that it was written from. Raises UnreadableArchive, with everything that a restore
    would refuse.
    """
    header = read_header(source)
    contents = check_whole(source, header, now, lambda _: None)
    checks = DocumentChecks(database, contents.context, lambda _: False)
    for entry in read_entries(source, header):
        await checks.check(entry)
    await checks.finish()

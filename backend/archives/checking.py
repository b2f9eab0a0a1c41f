"""Checks each document of an archive as a restore does, and reads an archive back that was just written."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Set
from datetime import datetime

from backend.archives.archive_file import (
    ArchiveSource,
    Entry,
    RefusedArchive,
    check_whole,
    read_entries,
    read_header,
)
from backend.domain.links.links import Link
from backend.domain.web.short_urls import host_of
from backend.storage.accounts.domains import is_domain
from backend.storage.driver.extended_json import from_json, to_json
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.archive_context import ArchiveContext
from backend.storage.lifecycle.archived_documents.check import BrokenRule, check_document
from backend.storage.links import links
from backend.storage.links.writing.loops import DomainPath, looping_field, varying_field

# Of the pages that SQLite keeps in memory.
_KIBIBYTES = 8_192


class LinkLoops:
    """Collects those links of an archive that lead to a link domain: in a temporary file without a name."""

    def __init__(self, database: Database, domains: set[str]) -> None:
        """`domains` are the archive's own domains. The database has no links on them yet."""
        self._database = database
        self._domains = domains
        self._is_domain: dict[str, bool] = dict.fromkeys(domains, True)
        self._leading_links = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in (
            f"PRAGMA cache_size = -{_KIBIBYTES}",
            "PRAGMA journal_mode = OFF",
            "CREATE TABLE links (domain TEXT, path TEXT, text TEXT, PRIMARY KEY (domain, path))",
            "BEGIN",
        ):
            self._leading_links.execute(statement)

    async def add(self, entry: Entry) -> None:
        """Note this entry if it is a link that leads to another link."""
        if entry.collection != links.NAME:
            return
        link = links.from_document(entry.document)
        hosts = map(host_of, link.destinations.values())
        if any([host and await self._has_links(host) for host in hosts]):
            row = link.domain, link.path, to_json(entry.document)
            self._leading_links.execute("INSERT OR REPLACE INTO links VALUES (?, ?, ?)", row)

    async def find_loops(self) -> AsyncIterator[tuple[str, str]]:
        """The id of each link that leads back to itself, or could, with the name of the field that does."""
        domains = {host for host, is_domain in self._is_domain.items() if is_domain}
        for (text,) in self._leading_links.execute("SELECT text FROM links ORDER BY domain, path"):
            link = links.from_document(from_json(text))
            field = varying_field(link, domains) or await looping_field(self._database, link, self._resolve)
            if field:
                yield link.id, field

    async def _has_links(self, host: str) -> bool:
        if host not in self._is_domain:
            self._is_domain[host] = await is_domain(self._database, host)
        return self._is_domain[host]

    async def _resolve(self, places: Set[DomainPath]) -> Mapping[DomainPath, Link]:
        own = {place for place in places if place[0] in self._domains}
        found = await links.resolve_links(self._database, places - own)
        return found | {place: link for place in own if (link := self._leading_link(place))}

    def _leading_link(self, place: DomainPath) -> Link | None:
        asked = self._leading_links.execute("SELECT text FROM links WHERE domain = ? AND path = ?", place)
        row = asked.fetchone()
        return links.from_document(from_json(row[0])) if row else None


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

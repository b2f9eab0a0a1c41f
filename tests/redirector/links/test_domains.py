"""The link domains that the redirector has in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from pymongo.errors import NetworkTimeout

from backend.domain.domains.settings import DomainSettings, LinkDomain
from backend.domain.ids import OrgId
from backend.redirector.links.domains import LinkDomains
from backend.storage.driver.mongo import Database
from backend.storage.links.changes import DomainChanged
from tests.polling import wait_for_async

OLD = {"org_id": "o", "settings": {"root_url": "https://old.example/"}}


class SlowDatabase:
    """A stand-in for MongoDB that answers one read of domains at a time, when a test says so."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self.is_away = False
        self.may_answer = asyncio.Event()
        self.reads = 0

    def __getitem__(self, _: str) -> SlowDatabase:
        return self

    async def find(self, *_: object) -> AsyncIterator[dict[str, Any]]:
        """The documents as they were when the read began."""
        self.reads += 1
        found = list(self.documents)
        await self.may_answer.wait()
        if self.is_away:
            raise NetworkTimeout("timed out")
        for document in found:
            yield document


async def test_a_change_during_a_read_wins() -> None:
    """Whether a domain was changed, added or removed while all were read: the read is older."""
    database = SlowDatabase()
    database.documents = [{"_id": name, **OLD} for name in ("changed", "gone", "same")]
    domains = LinkDomains(cast(Database, database))
    starting = asyncio.create_task(domains.start())
    await wait_for_async(lambda: _number(database), "nothing is read")
    new = LinkDomain(OrgId("o"), DomainSettings("https://new.example/"))
    domains.note(DomainChanged("changed", new))
    domains.note(DomainChanged("gone", None))
    domains.note(DomainChanged("added", new))
    assert not domains.are_read
    database.may_answer.set()
    await starting
    assert domains.are_read
    assert domains.by_name.keys() == {"changed", "added", "same"}
    assert domains.by_name["changed"] == domains.by_name["added"] == new
    await domains.stop()


async def test_without_the_database_what_is_known_stays() -> None:
    """What the file had, and what was read, until the domains could be read again after a doubt."""
    database = SlowDatabase()
    database.is_away = True
    database.may_answer.set()
    domains = LinkDomains(cast(Database, database))
    kept = LinkDomain(OrgId("o"), DomainSettings("https://file.example/"))
    domains.fall_back_on({"go.file.localhost": kept})
    by_name = domains.by_name
    await domains.start()
    assert (by_name, domains.are_read) == ({"go.file.localhost": kept}, False)
    database.documents, database.is_away = [{"_id": "go.new.localhost", **OLD}], False
    domains.doubt()
    await wait_for_async(lambda: _named(domains, "go.new.localhost"), "they are not read again")
    assert by_name.keys() == {"go.new.localhost"}
    await domains.stop()


async def test_a_domain_that_can_not_be_read_keeps_no_other_from_it() -> None:
    """It stays as it was known, and is not known after a start; all others are read."""
    database = SlowDatabase()
    database.may_answer.set()
    database.documents = [{"_id": name, **OLD} for name in ("damaged", "same")]
    domains = LinkDomains(cast(Database, database))
    await domains.start()
    database.documents[0] = {"_id": "damaged", "org_id": "o", "settings": {"texts": {"unknown": {}}}}
    database.documents.append({"_id": "new", **OLD})
    domains.doubt()
    await wait_for_async(lambda: _named(domains, "new"), "all are read again")
    assert domains.by_name["damaged"].settings.root_url == "https://old.example/"
    await domains.stop()
    after_start = LinkDomains(cast(Database, database))
    await after_start.start()
    await after_start.stop()
    assert after_start.by_name.keys() == {"same", "new"}


async def _number(database: SlowDatabase) -> int:
    return database.reads


async def _named(domains: LinkDomains, name: str) -> bool:
    return name in domains.by_name

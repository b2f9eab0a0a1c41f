"""When the process that answers questions ends."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from backend.storage.analytics.connection import ProcessConnection
from backend.storage.analytics.question import Facts, Question
from backend.storage.columns import question_server
from backend.storage.columns.question_server import QuestionServer
from backend.storage.driver.mongo import Database
from tests.polling import until
from tests.storage.columns.hosts import host

_is_asked, _goes_on = threading.Event(), threading.Event()


@dataclass(frozen=True)
class Long(Question[int]):
    """A question whose answer takes longer than the process waits for another one."""

    def answer(self, facts: Facts) -> int:
        """Waits."""
        _is_asked.set()
        _goes_on.wait()
        return 7


async def test_it_does_not_end_while_it_works(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long an answer takes: the process ends only when nobody has asked for a while since then."""
    monkeypatch.setattr(question_server, "_IDLE_SECONDS", 0.05)
    async with host(database, tmp_path) as projections:
        server = QuestionServer(projections)
        listening = await asyncio.start_unix_server(server.serve, tmp_path / "socket")
        connection = await ProcessConnection.open(str(tmp_path / "socket"))
        needless = asyncio.create_task(server.until_needless())
        answer = asyncio.create_task(
            anext(connection.exchange({"org_id": OrgId("one"), "questions": [Long()]}))
        )
        try:
            await until(_is_asked.is_set, "nobody asks")
            await asyncio.wait([needless], timeout=0.5)
            assert not needless.done()
        finally:
            _goes_on.set()
        assert (await answer)["answer"] == [7]
        await needless
        server.end()
        await connection.close()
        listening.close()

"""What is found of a database: a server without a replica set, and clocks that differ."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from backend.doctor.examination import Examination
from backend.doctor.storage import examine_clock
from backend.domain.finding import Area, Severity
from backend.settings import Settings
from backend.storage.driver.mongo import Database
from backend.storage.embedded.mongod_process import find_mongod
from backend.storage.lifecycle.inspection import read_server_state
from backend.system.clock import utc_now
from tests.polling import wait_for
from tests.processes.service_process import free_port


@pytest.fixture
def standalone(tmp_path: Path) -> Iterator[str]:
    """The URI of a mongod that is no member of a replica set."""
    port = free_port()
    folder = tmp_path / "db"
    folder.mkdir()
    command = [str(find_mongod()), "--dbpath", str(folder), "--port", str(port), "--bind_ip", "127.0.0.1"]
    quiet = ["--logpath", str(tmp_path / "mongod.log"), "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25"]
    with subprocess.Popen([*command, *quiet], stdout=subprocess.DEVNULL) as process:
        wait_until_it_answers(port)
        yield f"mongodb://127.0.0.1:{port}/"
        process.kill()


def wait_until_it_answers(port: int) -> None:
    """Return once the server answers."""
    with MongoClient[dict[str, object]]("127.0.0.1", port, serverSelectionTimeoutMS=500) as client:

        def answers() -> bool:
            with contextlib.suppress(PyMongoError):
                return bool(client.admin.command("ping"))
            return False

        wait_for(answers, "mongod does not answer", seconds=60)


async def test_a_server_without_a_replica_set(standalone: str, tmp_path: Path) -> None:
    """It is an error, since transactions and change streams do not work there; the rest is examined too."""
    settings = Settings(mongodb_uri=standalone, data_dir=tmp_path, port=free_port())
    findings = [finding async for finding in Examination(settings, {}, utc_now, None).run()]
    storage = [finding for finding in findings if finding.area is Area.STORAGE]
    assert [(finding.subject, finding.severity) for finding in storage] == [
        ("MongoDB", Severity.OK),
        ("replica set", Severity.ERROR),
        ("clock", Severity.OK),
        ("indexes", Severity.OK),
    ]


async def test_the_server_is_compared_with_the_clock_that_is_passed_in(database: Database) -> None:
    """Half of the time that the question takes is the server's way to answer it."""
    readings = iter([utc_now() - timedelta(hours=3), utc_now() - timedelta(hours=1)])
    state = await read_server_state(database, lambda: next(readings))
    assert abs(state.ahead - timedelta(hours=2)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("seconds", "severity", "words"),
    [
        (0.2, Severity.OK, "0.2 s ahead of"),
        (-3, Severity.WARNING, "3.0 s behind"),
        (31, Severity.ERROR, "31.0 s ahead of"),
    ],
)
def test_clocks(seconds: float, severity: Severity, words: str) -> None:
    """A second is noticeable, half a minute is too much, in either direction."""
    finding = examine_clock(timedelta(seconds=seconds))
    assert (finding.severity, words in finding.message) == (severity, True)

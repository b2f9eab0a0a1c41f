"""Parquet files of all four places that give them: two operations of REST, and two commands."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from backend.concurrency.processes import who_locks
from backend.domain.clicks.block import block_of
from backend.domain.clicks.rows import COLUMNS
from backend.domain.ids import LinkId, OrgId
from backend.storage.analytics.messages import LOCK
from backend.storage.clicks.blocks import NAME, fields_of
from tests.facts.clicks import click
from tests.facts.parquet_rows import as_parquet, count, read
from tests.polling import wait_for
from tests.processes.forked.service import forked
from tests.processes.service_process import ServiceProcess, invoke

# More than DuckDB puts into a row group.
CLICKS = 130_000
START = datetime(2026, 3, 1, tzinfo=UTC)
TIME = {"from": "2026-03-01", "to": "2026-04-01"}
QUERY = TIME | {"group_by": "day,referrer,country", "measures": "clicks,visitors", "compare": "previous"}
# Of which everything is compared.
DAY = {"from": "2026-03-02", "to": "2026-03-03"}
OF_DAY = 1  # the days from START to DAY
LINK = LinkId("9d6bfb5c-0c9e-4a04-9d0e-6f2f1f6b1f2a")
PLACES = ("/analytics/export", "/clicks/export", "report analytics", "report clicks", "export")
CLICK_TYPES = dict.fromkeys(COLUMNS, "VARCHAR") | {
    "time": "TIMESTAMP WITH TIME ZONE", "counted": "BOOLEAN",
}  # fmt: skip
REPORT_TYPES = {
    "day": "DATE", "referrer": "VARCHAR", "country": "VARCHAR", "partial": "BOOLEAN",
    "clicks": "BIGINT", "visitors": "BIGINT", "previous_clicks": "BIGINT", "previous_visitors": "BIGINT",
}  # fmt: skip
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Owner:
    """An organization of the running service, and its key."""

    service: ServiceProcess
    org_id: OrgId
    key: str

    @property
    def files(self) -> Path:
        """Where the process that has the figures makes files."""
        return Path(self.service.environment["WAYLINK_DATA_DIR"], "analytics", "files")

    def get(self, path: str, form: str, **query: str) -> httpx.Response:
        """The answer to an export over REST."""
        url = f"{self.service.base_url}/serviceCore/pa/v1{path}"
        parameters = {"format": form} | (QUERY if "analytics" in path else TIME) | query
        return httpx.get(url, params=parameters, headers={"API-KEY": self.key}, timeout=120)

    def command(self, place: str, form: str, **query: str) -> list[str]:
        """The command that prints the report."""
        asked = (QUERY if "analytics" in place else TIME) | query
        times = [f"--{name}={text}" for name, text in asked.items()]
        return [
            *place.split(),
            "--org",
            self.org_id,
            "--format",
            form,
            *(option.replace("_", "-", 1) for option in times),
        ]

    def export_of_clicks(self, file: Path) -> list[str]:
        """The command that writes all clicks into the file."""
        return ["export", "--org", self.org_id, "--clicks", "parquet", "-o", str(file)]

    def parquet(self, place: str, folder: Path, **query: str) -> bytes:
        """The Parquet file of a place."""
        if place.startswith("/"):
            answer = self.get(place, "parquet", **query)
            assert answer.status_code == 200, answer.text
            assert answer.headers["Content-Type"] == "application/vnd.apache.parquet"
            name = place.split("/")[1]
            assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}.parquet"'
            return answer.content
        if place == "export":
            summary = self.service.command(
                "export", "--org", self.org_id, "--clicks", "parquet", "-o", str(folder / "c")
            )
            content = (folder / "c").read_bytes()
            assert summary == {
                "org_id": self.org_id,
                "file": str(folder / "c"),
                "clicks": count(content),
            }
            return content
        done = invoke(*self.command(place, "parquet", **query), environment=self.service.environment)
        assert done.exit_code == 0, done.stderr
        return done.stdout_bytes

    def assert_nothing_is_left(self) -> None:
        """Assert that no file is left soon, and that the process that makes them does nothing."""
        wait_for(lambda: list(self.files.iterdir()), "files are left", lambda files: not files)
        wait_for(lambda: _works(pid_of(self)), "it goes on", lambda works: not works)


def pid_of(owner: Owner) -> int:
    """The process that makes the files."""
    pid = who_locks(owner.files.parent / LOCK)
    assert pid
    return pid


def _works(pid: int) -> bool:
    before = _ticks(pid)
    time.sleep(0.3)
    return _ticks(pid) - before > 5


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def new_owner(running: ServiceProcess) -> Owner:
    """An organization without anything."""
    org_id = OrgId(running.command("organization", "create", "Acme")["id"])
    return Owner(running, org_id, running.command("key", "create", "--org", org_id, "--kind", "rest")["key"])


@pytest.fixture(scope="module")
def owner(running: ServiceProcess) -> Iterator[Owner]:
    """An organization with many clicks, in blocks whose times overlap: on DAY all differ, on any other day
    those of one block."""
    owner = new_owner(running)
    domain = f"go.{uuid.uuid4().hex[:8]}.example"
    running.command("domain", "add", domain, "--org", owner.org_id)
    body = {"domain": domain, "destination_url": "https://shop.example/", "link_name": "A"}
    url = f"{running.base_url}/serviceCore/pa/v1/create-link"
    assert httpx.post(url, json=body, headers={"API-KEY": owner.key}, timeout=60).status_code == 201
    [link] = running.stored("links", org_id=owner.org_id)
    size = 1_000
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as mongo:
        blocks = mongo[running.environment["WAYLINK_MONGODB_DATABASE"]][NAME]
        days: dict[int, Any] = {}
        for number in range(CLICKS // size):
            if number % 9 in days:
                blocks.insert_one(days[number % 9] | {"_id": f"{owner.org_id}/{uuid.uuid4()}"})
                continue
            clicks = [
                click(
                    owner.org_id,
                    LinkId(link["_id"]) if at % 2 else LINK,
                    START + timedelta(days=number % 9, milliseconds=7919 * (at * 131 + number) % 86_400_000),
                    referrer_host=f"{number}-{at}.example" if at % 10 else None,
                    country=(None, "DE", "AT")[at % 3],
                    browser=("=cmd()", 'Ünïcode, "quoted"\n', "")[at % 3],
                    reason="crawler" if at % 17 == 0 else None,
                    variant="B" if at % 5 == 0 else None,
                    visitor=None if at % 17 == 0 else at,
                )
                for at in range(size)
            ]
            document = fields_of(block_of(owner.org_id, clicks)) | {"is_small": True}
            blocks.insert_one({"_id": f"{owner.org_id}/{uuid.uuid4()}", **document})
            if number % 9 != OF_DAY:
                days[number % 9] = document
    # Until the figures are there, REST answers 503, and commands wait.
    invoke("report", "analytics", "--org", owner.org_id, environment=running.environment)
    yield owner
    owner.assert_nothing_is_left()


@pytest.fixture(scope="module")
def csv_rows(owner: Owner) -> list[Row]:
    """The rows of a day's CSV file, which REST and the command line give alike."""
    content = owner.get("/analytics/export", "csv", **DAY).content
    printed = invoke(*owner.command("report analytics", "csv", **DAY), environment=owner.service.environment)
    is_same = printed.stdout_bytes == content  # pytest would look for minutes how such texts differ
    assert is_same
    csv_rows = as_parquet(content.decode(), REPORT_TYPES)
    assert len(csv_rows) > 10_000
    return csv_rows


def test_clicks(owner: Owner, tmp_path: Path) -> None:
    """Each click, typed, and sorted by time as a whole; of a day, each once with all that the lines of JSON
    say; the same file in each place."""
    content = owner.parquet("/clicks/export", tmp_path)
    table = read(content)
    assert (table.types, table.row_groups, len(table.rows)) == (CLICK_TYPES, 2, CLICKS)
    times = list(map(itemgetter(0), table.rows))
    assert times == sorted(times)
    told = [json.loads(line) for line in owner.get("/clicks/export", "ndjson", **DAY).text.splitlines()]
    assert list(told[0]) == list(CLICK_TYPES)
    of_day = Counter(row for row in table.rows if row[0].startswith(DAY["from"]))
    assert of_day == Counter(tuple(click.values()) for click in told)
    for place in ("report clicks", "export"):
        is_same = owner.parquet(place, tmp_path) == content
        assert is_same, place


def test_analytics(owner: Owner, csv_rows: list[Row], tmp_path: Path) -> None:
    """Each row of the CSV file, in its order, typed; the same file in each place."""
    content = owner.parquet("/analytics/export", tmp_path, **DAY)
    table = read(content)
    assert table.types == REPORT_TYPES
    assert table.rows == csv_rows
    is_same = owner.parquet("report analytics", tmp_path, **DAY) == content
    assert is_same


@pytest.mark.parametrize("place", PLACES)
def test_nothing(running: ServiceProcess, tmp_path: Path, place: str) -> None:
    """A file without rows has the same columns."""
    empty = read(new_owner(running).parquet(place, tmp_path))
    assert (empty.types, empty.rows) == (REPORT_TYPES if "analytics" in place else CLICK_TYPES, [])


def test_a_part_of_the_clicks(owner: Owner) -> None:
    """Times and a link leave those of them alone."""
    query = {"from": "2026-03-02T01:00:00.001Z", "to": "2026-03-03T00:00Z"}
    clicks = [json.loads(line) for line in owner.get("/clicks/export", "ndjson", **query).text.splitlines()]
    link = next(row["link_id"] for row in clicks if row["short_url"])
    kept = [row for row in clicks if row["link_id"] == link]
    assert 0 < len(kept) < len(clicks) < CLICKS
    table = read(owner.get("/clicks/export", "parquet", link=link, **query).content)
    assert Counter(table.rows) == Counter(tuple(row.values()) for row in kept)


def test_the_first_rows(owner: Owner, csv_rows: list[Row]) -> None:
    """--limit leaves the first rows of a report; notes are on stderr."""
    command = owner.command("report analytics", "parquet", **DAY)
    done = invoke(*command, "--limit", "2500", environment=owner.service.environment)
    table = read(done.stdout_bytes)
    assert table.rows == csv_rows[:2500]
    assert "Note: Compared with" in done.stderr


@pytest.mark.parametrize("path", ["/analytics/export", "/clicks/export"])
def test_a_wrong_form(owner: Owner, path: str) -> None:
    """The parameter is named, and what is possible."""
    answer = owner.get(path, "orc")
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "format")
    assert "must be one of csv, ndjson, parquet" in answer.json()["error"]["errorMessage"]


@pytest.mark.parametrize(
    ("path", "when"),
    [
        ("/analytics/export", "while it is made"),
        ("/clicks/export", "while it is made"),
        ("/clicks/export", "while it is read"),
    ],
)
def test_a_client_of_rest_that_leaves(owner: Owner, path: str, when: str) -> None:
    """Nothing is left of the file, and nobody goes on making it."""
    request = httpx.Request(
        "GET", f"{owner.service.base_url}/serviceCore/pa/v1{path}",
        params=(QUERY if "analytics" in path else TIME) | {"format": "parquet"},
    )  # fmt: skip
    head = f"GET {request.url.raw_path.decode()} HTTP/1.1\r\nHost: {request.url.netloc.decode()}\r\n"
    with socket.create_connection((request.url.host, request.url.port or 80)) as connection:
        connection.sendall(f"{head}API-KEY: {owner.key}\r\n\r\n".encode())
        if when == "while it is made":
            wait_for(lambda: list(owner.files.iterdir()), "nothing is made", bool)
        else:
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
    owner.assert_nothing_is_left()


@pytest.mark.parametrize("place", ["report analytics", "report clicks", "export"])
def test_a_command_that_is_killed(owner: Owner, tmp_path: Path, place: str) -> None:
    """Nothing is left of the file, nor of the one that was to be written."""
    command = (
        ["export", "--org", owner.org_id, "--clicks", "parquet", "-o", str(tmp_path / "c")]
        if place == "export"
        else owner.command(place, "parquet")
    )
    with forked(owner.service.environment, tmp_path / "log", "backend.cli", command) as (process, _):
        # The file of an export is there for a fifth of a second: wait_for may look too seldom.
        while not any(owner.files.glob("*")):
            assert process.poll() is None, "nobody saw the file"
            time.sleep(0.002)
        process.kill()
    owner.assert_nothing_is_left()
    assert list(tmp_path.iterdir()) == [tmp_path / "log"]


def test_what_a_killed_process_leaves(owner: Owner) -> None:
    """The next process that makes files removes what one that was killed has left."""
    leftover = owner.files / "left" / "clicks.parquet"
    leftover.parent.mkdir()
    leftover.write_bytes(b"PAR1")
    os.kill(pid_of(owner), signal.SIGKILL)
    assert owner.get("/clicks/export", "parquet").status_code == 200
    assert not leftover.parent.exists()


def test_damaged_blocks(running: ServiceProcess, tmp_path: Path) -> None:
    """All other clicks are there; a header, and an error of commands, tell how many are missing."""
    owner = new_owner(running)
    good = block_of(owner.org_id, [click(owner.org_id, LINK, START)])
    with MongoClient[dict[str, Any]](running.environment["WAYLINK_MONGODB_URI"]) as mongo:
        blocks = mongo[running.environment["WAYLINK_MONGODB_DATABASE"]][NAME]
        broken = {
            "org_id": owner.org_id,
            "clicks": 7,
            "first_at": START,
            "last_at": START,
            "packed": b"\x01broken",
        }
        blocks.insert_one({"_id": f"{owner.org_id}/good", **fields_of(good)})
        blocks.insert_one({"_id": f"{owner.org_id}/broken", **broken})
        answer = owner.get("/clicks/export", "parquet")
        assert (len(read(answer.content).rows), answer.headers["Waylink-Clicks-Unreadable"]) == (1, "7")
        done = invoke(*owner.command("report clicks", "parquet"), environment=running.environment)
        assert (len(read(done.stdout_bytes).rows), done.exit_code) == (1, 1)
        assert "7 requests of this time are missing" in done.stderr
        file = tmp_path / "c"
        message = running.refusal(*owner.export_of_clicks(file))
        assert "7 requests of this time are missing" in message
        assert len(read(file.read_bytes()).rows) == 1
        # What is damaged later is in columns, and so in the file.
        blocks.update_one(
            {"_id": f"{owner.org_id}/good"}, {"$set": {"packed": b"\x01broken", "is_unreadable": True}}
        )
        answer = owner.get("/clicks/export", "parquet")
        assert (len(read(answer.content).rows), answer.headers["Waylink-Clicks-Unreadable"]) == (1, "7")


def test_a_file_that_can_not_be_made(owner: Owner, tmp_path: Path) -> None:
    """An error says so in each place, and there is no torn file."""
    owner.files.rename(away := owner.files.with_name("away"))
    try:
        for path in ("/analytics/export", "/clicks/export"):
            answer = owner.get(path, "parquet")
            assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/json")
        for command in (
            owner.command("report analytics", "parquet"),
            owner.command("report clicks", "parquet"),
            owner.export_of_clicks(tmp_path / "c"),
        ):
            done = invoke(*command, environment=owner.service.environment)
            assert (done.exit_code, done.stdout_bytes) == (1, b"")
            assert "The answer can't be made" in done.stderr
    finally:
        away.rename(owner.files)
    assert list(tmp_path.iterdir()) == []

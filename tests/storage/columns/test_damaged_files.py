"""Files that can't be used: what is damaged is made anew, what is good is kept, and others are answered."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest

from backend.domain.ids import OrgId
from backend.storage.analytics.file_troubles import FileTroubles, Remedy
from backend.storage.analytics.question import Facts, LongQuestion, NoAnswer, Question
from backend.storage.columns.tables.store import ColumnStore, EngineBounds
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.storage.columns.heavy_feeds import store_blocks
from tests.storage.columns.hosts import count, host
from tests.storage.columns.limits import limited

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Which of an organization's files is damaged, and how.
DAMAGES = (
    *((".clicks", how) for how in ("a bit", "a page", "half", "the beginning", "all", "gone")),
    *(("", how) for how in ("half", "the beginning")),
)


def damage(path: Path, how: str) -> None:
    """Damage a file that is not open."""
    content = bytearray(path.read_bytes())
    match how:
        case "gone":
            path.unlink()
            return
        case "a bit":
            content[place_of_clicks(path)] ^= 1
        case "a page":
            middle = place_of_clicks(path)
            content[middle : middle + 4096] = bytes(4096)
        case "half":
            del content[len(content) // 2 :]
        case "the beginning":
            content[:12_288] = bytes(12_288)
        case "all":
            content[:] = b"?" * 20_000
    path.write_bytes(content)


def place_of_clicks(path: Path) -> int:
    """Where the file has some of its clicks, behind its three headers."""
    with duckdb.connect(str(path), read_only=True) as connection:
        blocks = "SELECT max(block_id), (SELECT block_size FROM pragma_database_size()) "
        query = blocks + "FROM pragma_storage_info('clicks') WHERE column_name = 'visitor'"
        [(block, size)] = connection.execute(query).fetchall()
    return 3 * 4096 + int(block) * int(size) + 1_000


@dataclass(frozen=True)
class Sorted(Question[int]):
    """A question that needs more than memory has."""

    def answer(self, facts: Facts) -> int:
        """Sorts what is large."""
        numbers = "SELECT n, hash(n) AS hashed FROM range(8_000_000) AS numbers(n) ORDER BY hashed"
        [(last,)] = facts.connection.execute(f"SELECT last(n) FROM ({numbers})").fetchall()
        return int(last)


class SortedLong(LongQuestion[int]):
    """The same, in a long answer."""

    def pieces(self, facts: Facts) -> Generator[int, None, None]:
        """Sorts what is large."""
        yield Sorted().answer(facts)


def names_of(folder: Path) -> set[str]:
    """The names of the files of columns, and of what is beside them."""
    return {path.name for path in folder.glob("*duckdb*")}


@pytest.mark.parametrize(("which", "how"), DAMAGES)
async def test_a_file_that_is_damaged(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path, which: str, how: str
) -> None:
    """All of an organization's files are made anew wherever one is damaged, nothing is left of the former
    ones then, and it is told; others answer."""
    organization, other = await make_organization(), await make_organization()
    await store_blocks(database, organization.id, 8, 10_000)
    await store_blocks(database, other.id, 1, 10)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 80_000
        assert await count(projections, database, other.id) == 10
    names = names_of(tmp_path)
    assert names == {f"{one.id}{which}.duckdb" for one in (organization, other) for which in ("", ".clicks")}
    damage(tmp_path / f"{organization.id}{which}.duckdb", how)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 80_000
        assert await count(projections, database, other.id) == 10
    assert names_of(tmp_path) == names
    told = [(one.org_id, one.file, one.made_anew) for one in FileTroubles(tmp_path).read(utc_now()).values()]
    # What is wrong in the middle of a file, DuckDB says without its name.
    named = which if how in {"half", "the beginning", "all"} else ".*"
    file = f"{organization.id}{named}.duckdb".replace("*.", "*")
    assert told == ([(organization.id, file, 1)] if how != "gone" else [])


async def test_a_disk_that_is_full(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """While there is no room, the file stays, and another organization's answers; with room, it goes on."""
    organization, other = await make_organization(), await make_organization()
    await store_blocks(database, organization.id, 1, 10_000)
    async with host(database, tmp_path) as projections:
        assert await count(projections, database, organization.id) == 10_000
        assert await count(projections, database, other.id) == 0
        path = tmp_path / f"{organization.id}.clicks.duckdb"
        before = path.stat().st_ino
        await store_blocks(database, organization.id, 30, 10_000)
        with limited(resource.RLIMIT_FSIZE, path.stat().st_size + 300_000):
            for _ in range(4):
                with pytest.raises(NoAnswer, match="File too large"):
                    await count(projections, database, organization.id)
                assert await count(projections, database, other.id) == 0
        assert await count(projections, database, organization.id) == 310_000
        assert path.stat().st_ino == before


@contextmanager
def used_by_another_program(path: Path) -> Iterator[None]:
    """A block in which another program has the file open."""
    held = f"import duckdb, sys; held = duckdb.connect({str(path)!r}); print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", held]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin
        assert program.stdout
        program.stdout.readline()
        yield
        program.stdin.close()


@contextmanager
def without_rights(path: Path) -> Iterator[None]:
    """A block in which this process may read the file, and not write it, but may write beside it."""
    mode = path.stat().st_mode
    path.chmod(0o444)
    path.parent.chmod(0o777)
    if not (user := os.geteuid()):  # the superuser may do everything
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(mode)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users may enter."""
    with TemporaryDirectory(prefix="waylink-") as folder:
        yield Path(folder)


@pytest.mark.parametrize("which", ["", ".clicks"])
@pytest.mark.parametrize(
    ("refused", "why"),
    [(used_by_another_program, "Could not set lock on file"), (without_rights, "Permission denied")],
)
async def test_a_file_that_the_machine_refuses(
    database: Database,
    make_organization: OrganizationFactory,
    open_folder: Path,
    refused: Callable[[Path], AbstractContextManager[None]],
    why: str,
    which: str,
) -> None:
    """It stays as it is, others answer, it is told why, and used again afterwards."""
    organization, other = await make_organization(), await make_organization()
    await store_blocks(database, organization.id, 1, 1_000)
    async with host(database, open_folder) as projections:
        assert await count(projections, database, organization.id) == 1_000
    path = open_folder / f"{organization.id}{which}.duckdb"
    before, names = path.stat().st_ino, names_of(open_folder)
    async with host(database, open_folder) as projections:
        with refused(path):
            for _ in range(3):
                with pytest.raises(NoAnswer, match=why):
                    await count(projections, database, organization.id)
        assert await count(projections, database, other.id) == 0
        [trouble] = FileTroubles(open_folder).read(utc_now()).values()
        assert (trouble.org_id, trouble.remedy, trouble.times) == (organization.id, Remedy.NONE, 1)
        assert await count(projections, database, organization.id) == 1_000
    assert path.stat().st_ino == before
    assert names_of(open_folder) == names | {f"{other.id}.duckdb", f"{other.id}.clicks.duckdb"}


async def test_a_disk_that_is_full_as_a_file_is_opened_first(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """Nothing of the file is left that would be taken for damaged, wherever it ended."""
    organization = await make_organization()
    await store_blocks(database, organization.id, 1, 10)
    async with host(database, tmp_path) as projections:
        for room in (0, 3_000, 9_000):
            with limited(resource.RLIMIT_FSIZE, room), pytest.raises(NoAnswer, match="File too large"):
                await count(projections, database, organization.id)
        assert await count(projections, database, organization.id) == 10
    assert names_of(tmp_path) == {f"{organization.id}.duckdb", f"{organization.id}.clicks.duckdb"}
    assert all(trouble.made_anew == 0 for trouble in FileTroubles(tmp_path).read(utc_now()).values())


async def test_a_disk_without_room_for_what_memory_has_not(
    database: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """Who asks for much is told that the disk is full; the file is not blamed, and goes on answering."""
    organization = await make_organization()
    await store_blocks(database, organization.id, 1, 10)
    async with host(database, tmp_path, memory_mb=60) as projections:
        assert await count(projections, database, organization.id) == 10
        with limited(resource.RLIMIT_FSIZE, 1_000_000):
            for _ in range(3):
                with pytest.raises(NoAnswer, match="no room for what does not fit into memory"):
                    await projections.ask(organization.id, [Sorted()])
                with pytest.raises(NoAnswer, match="no room for what does not fit into memory"):
                    async for _ in projections.stream(organization.id, SortedLong()):
                        pass
                assert await count(projections, database, organization.id) == 10
    assert FileTroubles(tmp_path).read(utc_now()) == {}


@pytest.mark.parametrize("why", ["too many files", "a handle of this process"])
def test_a_file_that_can_not_be_opened_now(tmp_path: Path, why: str) -> None:
    """What is not the file's fault does not cost it, also where it is to be made anew."""
    org_id, store = OrgId("one"), ColumnStore(tmp_path, EngineBounds())
    file = store.attach(org_id, NOW)
    with file.connection() as connection:
        connection.execute("UPDATE state SET place = 17")
    if why == "too many files":
        file.close()
        with Path("/dev/null").open() as last, limited(resource.RLIMIT_NOFILE, last.fileno() + 1):
            with pytest.raises(duckdb.Error, match="Too many open files"):
                store.attach(org_id, NOW)
            with pytest.raises((duckdb.Error, OSError), match="Too many open files"):
                store.make_anew(org_id)
    else:
        with pytest.raises(duckdb.Error, match="already"):
            store.attach(org_id, NOW)
        with pytest.raises(duckdb.Error, match="already"):
            store.make_anew(org_id)
        file.close()
    with store.attach(org_id, NOW).connection() as connection:
        assert connection.execute("SELECT place FROM state").fetchall() == [(17,)]
    store.close()
    assert not list(tmp_path.glob("*.former*"))

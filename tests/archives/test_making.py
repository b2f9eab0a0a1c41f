"""Archives that the service makes in the background."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.archives import making
from backend.archives.archive_file import LONGEST_LINE
from backend.archives.making import ArchiveMaking
from backend.archives.process import MakingStart
from backend.archives.restore import restore_organization
from backend.concurrency.startable import running
from backend.domain.archives.archive import (
    MOST_ARCHIVES,
    MOST_ATTEMPTS,
    Archive,
    ArchiveState,
    ArchiveUnderWay,
    DiskNearlyFull,
    Making,
)
from backend.domain.errors import ItemUnknown, TooManyItems
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.mail.organization_mails import archive_mail
from backend.storage.accounts.organizations import create_organization
from backend.storage.archives import archives, pieces
from backend.storage.archives.pieces import add_piece, read_pieces
from backend.storage.driver import disk
from backend.storage.driver.mongo import Database
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.work import Work
from backend.system.clock import utc_now
from tests.api.link_calls import API, create
from tests.conftest import MovableClock
from tests.facts.archives import KEPT, store_file
from tests.facts.failing_items import end_pauses
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.fresh_database import fresh_database
from tests.polling import wait_for_async
from tests.storage.late_writes import late_find_and_modify


@pytest.fixture(autouse=True)
def frequent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for is begun at once."""
    monkeypatch.setattr(making, "STEP_SECONDS", 0.2)


@pytest.fixture
async def quiet(database: Database) -> AsyncIterator[Database]:
    """A database of this test's own, in which nobody makes archives."""
    async with fresh_database(database) as fresh:
        yield fresh


async def ask(database: Database, org_id: OrgId, mail_to: str | None = None) -> Archive:
    """Ask for an archive as an owner does."""
    return await archives.ask_archive(
        database, org_id, "ada@shop.example", kept=KEPT, mail_to=mail_to, language=Language.EN, now=utc_now()
    )


async def begin(database: Database, archive: Archive) -> Archive:
    """Begin to make it as a service does."""
    begun = await archives.begin_making(database, archive, archives.new_making(archive))
    assert begun
    return begun


async def test_an_archive_is_made_downloaded_in_parts_and_restored(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    quiet: Database,
    tmp_path: Path,
) -> None:
    """A file that came in two parts has the told size and SHA-256, and another database takes all of it."""
    await create(client, organization)
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    asked = (await client.post(f"{API}/archives", headers=headers)).json()
    address = f"{API}/archives/{asked['id']}"

    async def state() -> dict[str, object]:
        answer: dict[str, object] = (await client.get(address, headers=headers)).json()
        return answer

    archive = await wait_for_async(state, "the archive", lambda archive: archive["state"] == "ready")
    first = await client.get(f"{address}/file", headers=headers | {"Range": "bytes=0-999"})
    going_on = {"Range": "bytes=1000-", "If-Range": first.headers["ETag"]}
    rest = await client.get(f"{address}/file", headers=headers | going_on)
    assert [first.status_code, rest.status_code] == [206, 206]
    assert rest.headers["Content-Range"] == f"bytes 1000-{archive['size'] - 1}/{archive['size']}"  # type: ignore[operator]
    content = first.content + rest.content
    assert (len(content), hashlib.sha256(content).hexdigest()) == (archive["size"], archive["sha256"])
    assert (await client.get(f"{address}/file", headers=headers)).content == content
    file = tmp_path / "archive.jsonl"
    file.write_bytes(content)
    restored = await restore_organization(quiet, file, utc_now(), lambda _: None, lambda _: False)
    assert restored.header.org_id == organization.id
    assert archive["documents"] == dict.fromkeys(("total", "written"), restored.counts.total())


async def test_what_could_not_be_restored_is_no_archive(quiet: Database) -> None:
    """The file is read back: where a restore would refuse a document, the archive fails and says where."""
    org_id = (await create_organization(quiet, "Kites", utc_now())).id
    await quiet["annotations"].insert_one({"_id": "no note", "org_id": org_id, "text": ""})
    asked = await ask(quiet, org_id)
    read = partial(archives.get_archive, quiet, asked.org_id, asked.id, utc_now())
    async with running(ArchiveMaking(quiet, utc_now, KEPT)):
        failed = await wait_for_async(read, "the archive", lambda archive: not archive.is_open)
    assert failed.state is ArchiveState.FAILED
    assert re.search(r"line \d+, annotations: at is missing", failed.error)
    assert await quiet[pieces.NAME].count_documents({}) == 0


async def test_a_stored_file_is_read_as_one_on_a_disk_is(quiet: Database) -> None:
    """Its lines come whole over the ends of pieces, from wherever reading begins."""
    begun = await begin(quiet, await ask(quiet, OrgId("kites")))
    data = b"".join(bytes([number + 32]) * 300_007 + b"\n" for number in range(9))
    for number in range(-(-len(data) // pieces.PIECE_BYTES)):
        piece = data[number * pieces.PIECE_BYTES :][: pieces.PIECE_BYTES]
        await add_piece(quiet, begun.making, number, piece, begun.expires_at)
    on_disk, stored = BytesIO(data), pieces.StoredFile(quiet, begun.making, len(data)).open("rb")
    for start in (0, 1, pieces.PIECE_BYTES, len(data) - 5, len(data)):
        on_disk.seek(start)
        stored.seek(start)
        while line := on_disk.readline(LONGEST_LINE):
            assert (stored.readline(LONGEST_LINE), stored.tell()) == (line, on_disk.tell())
        assert stored.readline(LONGEST_LINE) == b""


async def test_which_part_of_the_file_is_sent(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Pieces are cut where the range says; a range behind the end is refused, and one of another file, or of
    several parts, gets the whole."""
    archive = await store_file(database, organization.id, utc_now(), b"0123456789")
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    address = f"{API}/archives/{archive.id}/file"

    async def part(**more: str) -> tuple[int, bytes]:
        sent = {name.replace("_", "-"): value for name, value in more.items()}
        answer = await client.get(address, headers=headers | sent)
        return answer.status_code, answer.content

    assert await part(Range="bytes=2-4") == (206, b"234")
    assert await part(Range="bytes=-3") == (206, b"789")
    for ignored in ("bytes=0-1,4-5", "lines=1-2", "bytes=x"):
        assert await part(Range=ignored) == (200, b"0123456789")
    assert await part(Range="bytes=2-4", If_Range='"another"') == (200, b"0123456789")
    assert (await part(Range="bytes=10-"))[0] == 416


async def test_a_file_of_several_pieces(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever bytes are asked for, they come from the pieces that have them."""
    monkeypatch.setattr(pieces, "PIECE_BYTES", 4)
    attempt = Making(OrgId("somebody"), "archive", "attempt")
    for number, data in enumerate((b"0123", b"4567", b"89")):
        await add_piece(database, attempt, number, data, utc_now() + KEPT)
    for start in range(10):
        for end in range(start + 1, 11):
            read = [piece async for piece in read_pieces(database, attempt, start, end)]
            assert b"".join(read) == b"0123456789"[start:end]
    await pieces.delete_pieces(database, attempt.org_id, attempt.archive_id)
    with pytest.raises(pieces.PieceMissing):
        [piece async for piece in read_pieces(database, attempt, 0, 1)]


async def test_an_archive_survives_whoever_makes_it(quiet: Database) -> None:
    """Nothing that a killed process has stored is in the file. One that stops with its service is no failed
    attempt, and the next service begins again, and queues one mail to whoever asked."""
    org_id = (await create_organization(quiet, "Kites", utc_now())).id
    dead = await begin(quiet, await ask(quiet, org_id, mail_to="ada@shop.example"))
    await add_piece(quiet, dead.making, 0, b"half", dead.expires_at)
    read = partial(archives.get_archive, quiet, org_id, dead.id, utc_now())
    async with running(ArchiveMaking(quiet, utc_now, KEPT)):
        begun = await wait_for_async(
            read, "another attempt", lambda archive: archive.making_id != dead.making_id
        )
    stopped = await read()
    assert (begun.attempts, stopped.attempts, stopped.state) == (2, 1, ArchiveState.WAITING)
    async with running(
        ArchiveMaking(quiet, utc_now, KEPT, partial(archive_mail, "https://api.shop.example"))
    ):
        made = await wait_for_async(read, "the archive", lambda archive: not archive.is_open)
        assert made.state is ArchiveState.READY, made.error
        mail = await wait_for_async(quiet["mails"].find_one, "a mail")
    assert mail
    assert (mail["address"], mail["subject"]) == ("ada@shop.example", "The archive of Kites is ready")
    assert "https://api.shop.example/archives" in mail["text"]
    assert await quiet["mails"].count_documents({}) == 1
    assert not await archives.note_progress(quiet, dead.making, 9, {})
    assert not await archives.note_ready(quiet, dead, 4, "", kept=KEPT, now=utc_now())
    stored = [document["_id"] async for document in quiet[pieces.NAME].find({}, {"_id": 1})]
    assert stored == [f"{org_id}/{made.id}/{made.making_id}/00000000"]


async def test_a_process_that_was_stopped_holds_no_other_archive(
    quiet: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended once it has come no further for a while, which is that archive's failure; the next one is
    made, and later that one, too."""
    stopped, other = [(await create_organization(quiet, name, utc_now())).id for name in ("Kites", "Sails")]
    begin_process, stops = making._begin, [stopped]

    def begin_and_stop(start: MakingStart) -> subprocess.Popen[bytes]:
        process = begin_process(start)
        is_stopped = start.org_id in stops
        if is_stopped:
            os.kill(process.pid, signal.SIGSTOP)
        monkeypatch.setattr(making, "LONGEST_SILENCE", 0.5 if is_stopped else 300.0)
        return process

    monkeypatch.setattr(making, "_begin", begin_and_stop)
    monkeypatch.setattr(making, "_RENEWED_EVERY", 0.1)
    first, second = await ask(quiet, stopped), await ask(quiet, other)
    is_over = lambda archive: not archive.is_open  # noqa: E731
    async with running(ArchiveMaking(quiet, utc_now, KEPT)):
        made = await wait_for_async(
            partial(read_one, quiet, second), "the other", lambda one: not one.is_open
        )
        assert made.state is ArchiveState.READY, made.error
        [failing] = await list_failing(quiet, stopped, Work.ARCHIVES)
        assert failing.item == first.id
        assert failing.error == "ComesNoFurther: its process came no further for 0 s, and was ended"
        stops.clear()
        await end_pauses(quiet, Work.ARCHIVES)
        made = await wait_for_async(partial(read_one, quiet, first), "the first", is_over)
        assert made.state is ArchiveState.READY, made.error
    assert await list_failing(quiet, stopped) == []


async def read_one(database: Database, archive: Archive) -> Archive:
    """The archive as it is now."""
    return await archives.get_archive(database, archive.org_id, archive.id, utc_now())


async def test_an_attempt_that_stops_as_it_is_noted_is_none(quiet: Database) -> None:
    """A service that stops before MongoDB has answered that its attempt begins takes the attempt back."""
    asked = await ask(quiet, OrgId("kites"))
    with late_find_and_modify(archives.NAME) as write:
        async with running(ArchiveMaking(quiet, utc_now, KEPT)):
            await asyncio.to_thread(write.asked.wait)
        await asyncio.to_thread(write.answered.wait)
    stopped = await archives.get_archive(quiet, asked.org_id, asked.id, utc_now())
    assert (stopped.attempts, stopped.state) == (0, ArchiveState.WAITING)


async def test_a_file_that_is_noted_as_a_service_stops_stays(
    quiet: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service that stops when MongoDB has noted that the file is ready takes nothing back."""
    org_id, noted = (await create_organization(quiet, "Kites", utc_now())).id, asyncio.Event()
    asked = await ask(quiet, org_id)
    note_ready = archives.note_ready

    async def answered_late(*values: Any, **options: Any) -> bool:
        is_noted = await note_ready(*values, **options)
        noted.set()
        await asyncio.sleep(0.2)
        return is_noted

    monkeypatch.setattr(archives, "note_ready", answered_late)
    async with running(ArchiveMaking(quiet, utc_now, KEPT)):
        await asyncio.wait_for(noted.wait(), 60)
    ready = await archives.get_archive(quiet, asked.org_id, asked.id, utc_now())
    assert (ready.attempts, ready.state) == (1, ArchiveState.READY)
    assert (
        sum([len(piece) async for piece in read_pieces(quiet, ready.making, 0, ready.size)]) == ready.size > 0
    )


async def test_whoever_was_suspended_leaves_the_file_of_another_alone(quiet: Database) -> None:
    """It wakes up when the archive is made, begins or fails: the file stays whole, and its own pieces go."""
    asked = await ask(quiet, OrgId("kites"))
    late = await begin(quiet, asked)
    made = await begin(quiet, asked)
    await add_piece(quiet, made.making, 0, b"file", made.expires_at)
    assert await archives.note_ready(quiet, made, 4, "", kept=KEPT, now=utc_now())
    await add_piece(quiet, late.making, 0, b"half", late.expires_at)
    assert await archives.begin_making(quiet, late, archives.new_making(late)) is None
    await archives.note_failed(quiet, late, "It could not.", utc_now())
    assert [piece async for piece in read_pieces(quiet, made.making, 0, 4)] == [b"file"]
    assert await quiet[pieces.NAME].count_documents({}) == 1
    ready = await archives.get_archive(quiet, made.org_id, made.id, utc_now())
    assert ready.state is ArchiveState.READY


async def test_what_ends_again_and_again_fails(quiet: Database) -> None:
    """The archive says so, has no file, and makes room for another."""
    asked = await ask(quiet, OrgId("kites"))
    await quiet[archives.NAME].update_one({"_id": asked.id}, {"$set": {"attempts": MOST_ATTEMPTS}})
    read = partial(archives.get_archive, quiet, asked.org_id, asked.id, utc_now())
    async with running(ArchiveMaking(quiet, utc_now, KEPT)):
        failed = await wait_for_async(read, "the archive", lambda archive: not archive.is_open)
    assert (failed.state, "ended 3 times" in failed.error) == (ArchiveState.FAILED, True)
    await ask(quiet, OrgId("kites"))


async def test_how_many_archives_there_may_be(quiet: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is still to be made, and three of all; failed ones don't count. None on a disk that is nearly
    full."""
    org_id, other = OrgId("kites"), OrgId("boats")
    asked = await ask(quiet, org_id)
    with pytest.raises(ArchiveUnderWay):
        await ask(quiet, org_id)
    await ask(quiet, other)
    begun = await begin(quiet, asked)
    await archives.note_failed(quiet, begun, "It could not.", utc_now())
    for _ in range(MOST_ARCHIVES):
        newest = await store_file(quiet, org_id, utc_now())
    with pytest.raises(TooManyItems):
        await ask(quiet, org_id)
    await archives.delete_archive(quiet, org_id, newest.id)
    monkeypatch.setattr(disk, "LITTLE_SPACE", 10**18)
    with pytest.raises(DiskNearlyFull):
        await ask(quiet, org_id)


async def test_nobody_sees_the_archives_of_others_or_those_of_the_past(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, clock: MovableClock
) -> None:
    """Another organization's key finds none of them, and after the days of the setting nobody does."""
    archive = await store_file(database, organization.id, utc_now())
    address = f"{API}/archives/{archive.id}"
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    stranger = {"API-KEY": await make_scoped_key(database, replace(organization, id=OrgId("another")))}
    for path in ("", "/file"):
        assert (await client.get(f"{address}{path}", headers=stranger)).status_code == 404
    assert (await client.delete(address, headers=stranger)).status_code == 404
    assert (await client.get(f"{API}/archives", headers=stranger)).json() == {"archives": []}
    assert (await client.get(f"{address}/file", headers=headers)).content == b"file"
    clock.offset = KEPT
    assert (await client.get(f"{address}/file", headers=headers)).status_code == 404
    assert (await client.get(f"{API}/archives", headers=headers)).json() == {"archives": []}


async def test_a_deleted_archive_is_given_up(quiet: Database) -> None:
    """What makes it is told that it is over, and no piece stays."""
    archive = await begin(quiet, await ask(quiet, OrgId("kites")))
    await add_piece(quiet, archive.making, 0, b"half", archive.expires_at)
    await archives.delete_archive(quiet, archive.org_id, archive.id)
    assert await quiet[pieces.NAME].find_one() is None
    assert not await archives.note_progress(quiet, archive.making, 1, {})
    with pytest.raises(ItemUnknown):
        await archives.delete_archive(quiet, archive.org_id, archive.id)

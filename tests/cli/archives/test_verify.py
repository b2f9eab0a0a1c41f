"""`waylink verify`: exports of ledgers, and forged ones."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bson import Timestamp
from click.testing import CliRunner

from backend.app import Service
from backend.archives.archive_file import ArchiveWriter, read_entries, read_header
from backend.archives.export import export_organization
from backend.cli import main
from backend.domain.clicks.block import block_of, unpack
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.storage.accounts import organizations
from backend.storage.accounts.organizations import set_click_days
from backend.storage.clicks.blocks import NAME, fields_of
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.clicks.signing_keys import replace_signing_key, signing_key
from backend.storage.driver.mongo import Database, Document
from backend.storage.ledger import statement_signing
from backend.storage.ledger.ed25519 import public_key
from backend.storage.ledger.statement_signing import KEY, sign_all, sign_days
from backend.storage.ledger.statements import NAME as STATEMENTS
from backend.storage.outbox import entries
from backend.storage.outbox.aging import delete_expired
from backend.storage.outbox.sequencer import place_waiting
from tests.archives.forging import restore
from tests.facts.clicks import click, ship
from tests.facts.organizations import create_test_organization
from tests.facts.stored_links import insert_links
from tests.fresh_database import fresh_database

NOW = datetime.now(UTC)
TODAY = NOW.date()
Change = Callable[[str, Document], list[Document]]


@pytest.fixture(scope="module")
async def database(service: Service) -> AsyncIterator[Database]:
    """A database of this file's own, in which no service places events or signs."""
    async with fresh_database(service.resources.database) as fresh:
        yield fresh


@pytest.fixture
async def org_id(database: Database) -> OrgId:
    """An organization of this test's own, with links."""
    return await organization_with_links(database)


async def organization_with_links(database: Database) -> OrgId:
    """An organization with the links of `links_of`."""
    organization = await create_test_organization(database)
    org_id, domain = organization.id, organization.domain
    stored = [
        Link(link_id, org_id, domain, link_id, "https://shop.example/", link_id, NOW, NOW)
        for link_id in links_of(org_id)
    ]
    await insert_links(database, stored)
    return org_id


def links_of(org_id: OrgId) -> list[LinkId]:
    """The ids of the organization's two links."""
    return [LinkId(str(uuid.uuid5(uuid.UUID(org_id), str(number)))) for number in range(2)]


async def store(
    database: Database, org_id: OrgId, stored: int, log: str, start: int, clicked: int, number: int = 2
) -> None:
    """Store clicks of `clicked` days ago as the next stretch of a log, `stored` days ago."""
    at = datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC) - timedelta(days=clicked)
    made: list[Click] = [
        click(
            org_id,
            links_of(org_id)[n % 2],
            at + timedelta(seconds=start * 10 + n),
            reason="bot" if n == 4 else None,
        )
        for n in range(number)
    ]
    await ship(database, made, f"{log}{org_id}", start, start + 1)
    stamp = Timestamp(int((NOW - timedelta(days=stored)).timestamp()), 1)
    waiting = {"org_id": org_id, "waits": True}
    await database[entries.NAME].update_many(waiting, {"$set": {"stamp": stamp}})
    await place_waiting(database)


async def fill(database: Database, org_id: OrgId) -> None:
    """Three signed days of clicks from two hosts, with a late log and a merge, and one that is not signed."""
    await store(database, org_id, 3, "a", 0, 3, 5)
    await store(database, org_id, 3, "b", 0, 3)
    await store(database, org_id, 2, "a", 1, 2)
    await store(database, org_id, 2, "b", 1, 3)
    await store(database, org_id, 1, "late", 0, 3)
    assert await sign_days(database, org_id, TODAY - timedelta(days=1)) == 2
    assert await merge_small_blocks(database, org_id) == 3
    assert await sign_all(database, TODAY) >= 1
    await store(database, org_id, 0, "a", 2, 0)


async def export(database: Database, org_id: OrgId, folder: Path) -> Path:
    """The organization's archive."""
    file = folder / "archive.jsonl"
    await export_organization(database, org_id, file, lambda *_: None)
    return file


def forge(file: Path, change: Change) -> Path:
    """The archive with each document replaced by what `change` gives, and whole again."""
    forged = file.with_suffix(".forged.jsonl")
    with forged.open("wb") as opened:
        writer = ArchiveWriter(opened)
        header = read_header(file)
        writer.write_header(header)
        for entry in read_entries(file, header):
            for document in change(entry.collection, entry.document):
                writer.write_document(entry.collection, document)
        writer.write_end()
    return forged


def verify(file: Path, *options: str) -> dict[str, Any]:
    """What the command says of the file, as JSON; its exit code says the same."""
    result = CliRunner().invoke(main, ["verify", str(file), "--json", *options])
    result_json: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == (0 if result_json["is_unchanged"] else 1)
    return result_json


def kinds(result: dict[str, Any]) -> set[str]:
    """The kinds of what is wrong."""
    return {finding["kind"] for finding in result["findings"]}


async def test_a_whole_ledger(database: Database, org_id: OrgId, tmp_path: Path) -> None:
    """Two hosts, a late log, merges and a new key: all is as signed, with the totals of days and links."""
    await fill(database, org_id)
    key = public_key(await signing_key(database, KEY))
    result = verify(await export(database, org_id, tmp_path), "--public-key", key)
    assert result["findings"] == []
    days = [(day["day"], day["blocks"], day["requests"], day["clicks"]) for day in result["days"]]
    ago = [f"{TODAY - timedelta(days=number)}" for number in range(4)]
    assert days == [(ago[3], 2, 7, 6), (ago[2], 2, 4, 4), (ago[1], 1, 2, 2)]
    assert {name: amount["clicks"] for name, amount in result["amounts"].items() if amount["blocks"]} == {
        "proved": 15,
        "unsigned": 2,
    }
    assert sorted((link["requests"], link["clicks"]) for link in result["links"]) == [(7, 7), (8, 7)]
    of_day = verify(await export(database, org_id, tmp_path), "--from", ago[0], "--to", ago[0])
    assert [link["clicks"] for link in of_day["links"]] == [1, 1]
    assert of_day["days"] == []
    new = public_key(await replace_signing_key(database, KEY))
    assert await sign_days(database, org_id, TODAY + timedelta(days=1)) == 1
    file = await export(database, org_id, tmp_path)
    assert kinds(verify(file, "--public-key", key)) == {"unknown_key"}
    assert not verify(file, "--public-key", key, "--public-key", new)["findings"]


def without_a_click(name: str, document: Document) -> list[Document]:
    """A click is taken out of each block with several."""
    if name != NAME or document["clicks"] < 2:
        return [document]
    org_id = OrgId(document["org_id"])
    clicks = list(unpack(document["packed"]).clicks(org_id))[1:]
    forged = document | fields_of(block_of(org_id, clicks))
    if parts := document.get("parts"):
        forged["parts"] = [parts[0] | {"clicks": parts[0]["clicks"] - 1}, *parts[1:]]
    return [forged]


def only(collection: str, change: Callable[[Document], list[Document]]) -> Change:
    """A change of the documents of one collection."""
    return lambda name, document: change(document) if name == collection else [document]


FORGED: list[tuple[Change, set[str]]] = [
    (without_a_click, {"content"}),
    (only(NAME, lambda _: []), {"missing_block"}),
    (only(entries.NAME, lambda _: []), {"added_block", "root"}),
    (
        only(STATEMENTS, lambda statement: [statement | {"counted": statement["counted"] + 1}]),
        {"signature", "totals"},
    ),
    (
        only(STATEMENTS, lambda statement: [statement] if statement["previous"] else []),
        {"statement_chain"},
    ),
    (only(entries.NAME, lambda entry: [entry, entry | {"_id": entry["_id"] + "x"}]), {"malformed"}),
]


async def test_forged_archives(database: Database, org_id: OrgId, tmp_path: Path) -> None:
    """Whatever is changed in the file is found, though its own checksum is made anew."""
    await fill(database, org_id)
    file = await export(database, org_id, tmp_path)
    for change, expected in FORGED:
        assert kinds(await asyncio.to_thread(verify, forge(file, change))) >= expected
    kept = tmp_path / "kept.ndjson"
    signed = [statement async for statement in database[STATEMENTS].find({"org_id": org_id}, {"_id": 0})]
    kept.write_text("\n".join(map(json.dumps, signed)))
    assert not verify(file, "--kept", str(kept))["findings"]
    cut = forge(
        file,
        only(
            STATEMENTS,
            lambda statement: [] if statement["day"] > min(s["day"] for s in signed) else [statement],
        ),
    )
    assert kinds(verify(cut)) == {"unsigned_day"}
    assert kinds(verify(cut, "--kept", str(kept))) == {"kept_statement", "unsigned_day"}


# Stored so many days ago: the log and its stretch, of clicks so many days ago, and how many.
OLD = [
    (43, "a", 0, 43, 5),
    (41, "a", 1, 41, 2),
    (41, "b", 0, 43, 2),
    (40, "b", 1, 40, 2),
    (39, "b", 2, 39, 2),
]


async def test_what_has_expired(database: Database, org_id: OrgId, tmp_path: Path) -> None:
    """Clicks that the organization keeps no longer are told apart, and their numbers are signed."""
    for stored, log, start, clicked, number in OLD:
        await store(database, org_id, stored, log, start, clicked, number)
    await sign_all(database, TODAY)
    await set_click_days(database, org_id, 40)
    assert await sum_expired(database, org_id, NOW) == 9
    result = verify(await export(database, org_id, tmp_path))
    assert result["findings"] == []
    amounts = result["amounts"]
    assert (amounts["expired"]["clicks"], amounts["proved"]["clicks"]) == (9, 4)
    assert await delete_expired(database, NOW) == 1
    result = verify(await export(database, org_id, tmp_path))
    assert result["findings"] == []
    amounts = result["amounts"]
    assert [amounts[name]["clicks"] for name in ("faded", "expired", "proved")] == [5, 4, 4]


async def test_what_can_not_be_read(database: Database, org_id: OrgId, tmp_path: Path) -> None:
    """A damaged block is told as such; its numbers are signed."""
    await fill(database, org_id)
    block = {"org_id": org_id, "clicks": 2}
    await database[NAME].update_one(block, {"$set": {"packed": b"\x01damaged", "is_unreadable": True}})
    result = verify(await export(database, org_id, tmp_path))
    assert (result["findings"], result["amounts"]["unreadable"]["clicks"]) == ([], 2)


async def test_signing_goes_on(database: Database, org_id: OrgId) -> None:
    """Two who sign at once make one statement a day; nothing is due before the day is over."""
    await store(database, org_id, 2, "a", 0, 2)
    await store(database, org_id, 1, "a", 1, 1)
    made = await asyncio.gather(*(sign_days(database, org_id, TODAY) for _ in range(4)))
    assert sum(made) == 2
    await store(database, org_id, 2, "a", 2, 2)  # late: of a day that is signed
    assert await sign_days(database, org_id, TODAY) == 0
    assert await sign_days(database, org_id, TODAY + timedelta(days=1)) == 1
    statements = await database[STATEMENTS].find({"org_id": org_id}).sort("day", 1).to_list(None)
    assert [date.fromisoformat(statement["day"]) for statement in statements] == [
        TODAY - timedelta(days=2), TODAY - timedelta(days=1), TODAY,
    ]  # fmt: skip
    assert [(statement["first_place"], statement["last_place"]) for statement in statements] == [
        (1, 1),
        (2, 2),
        (3, 3),
    ]


async def test_nothing_is_signed_for_who_is_gone(database: Database) -> None:
    """Also where that happens between two days, while others have their turns: a restore may have begun."""
    async with fresh_database(database) as own:
        org_id = await organization_with_links(own)
        await store(own, org_id, 2, "a", 0, 2)
        await store(own, org_id, 1, "a", 1, 1)
        signing = statement_signing._signed(own, org_id, TODAY)
        assert await anext(signing)
        await own[organizations.NAME].delete_one({"_id": org_id})
        assert [is_new async for is_new in signing] == []


async def test_a_restored_ledger_goes_on(database: Database, tmp_path: Path) -> None:
    """Where it is restored, with another key, the next day follows the last one of the archive."""
    async with fresh_database(database) as home:
        org_id = await organization_with_links(home)
        await fill(home, org_id)
        file = await export(home, org_id, tmp_path)
        former = public_key(await signing_key(home, KEY))
    async with fresh_database(database) as elsewhere:
        await restore(elsewhere, file)
        await store(elsewhere, org_id, 0, "new", 0, 0)
        assert await sign_days(elsewhere, org_id, TODAY + timedelta(days=1)) == 1
        new = public_key(await signing_key(elsewhere, KEY))
        assert former != new
        (tmp_path / "again").mkdir()
        again = await export(elsewhere, org_id, tmp_path / "again")
    result = verify(again, "--public-key", former, "--public-key", new)
    assert result["is_unchanged"], result["findings"]
    assert len(result["days"]) == 4

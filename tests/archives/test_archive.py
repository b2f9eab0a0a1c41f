"""A whole organization written to a file, and restored elsewhere."""

from __future__ import annotations

import json
import os
import stat
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

import httpx
import pytest

import backend.storage
from backend.app import Service
from backend.archives.archive_file import RefusedArchive, UnreadableArchive
from backend.archives.export import export_organization
from backend.archives.restore import RestoreResult, restore_organization
from backend.domain.accounts.api_keys import hash_key
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.all_resources import RESOURCES
from backend.domain.ids import OrgId, UserId
from backend.domain.links.listing import LinkFilter, LinkOrder, LinkSort
from backend.imports.report import write_left_out
from backend.storage.accounts import api_keys, organizations
from backend.storage.accounts.domains import insert_domain
from backend.storage.accounts.users import users
from backend.storage.driver.extended_json import from_json, to_json
from backend.storage.driver.mongo import Database
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.lifecycle.collections import COLLECTIONS, archived_collections
from backend.storage.lifecycle.restores import AlreadyTaken, OtherRestoreUnfinished
from backend.storage.links import links
from backend.storage.links.lists.listing import list_page
from backend.storage.sales.conversions import NAME as CONVERSIONS
from backend.system.clock import utc_now
from backend.system.whole_file import whole_or_nothing
from tests.archives.full_organization import PASSWORD_HASH, fill
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.fresh_database import fresh_database


@dataclass(frozen=True, slots=True)
class Exported:
    """An archive that tests leave as it is, and how many documents of each collection it says to have."""

    file: Path
    counts: dict[str, int]


@pytest.fixture
async def elsewhere(database: Database) -> AsyncIterator[Database]:
    """A fresh database."""
    async with fresh_database(database) as fresh:
        yield fresh


@pytest.fixture(scope="module")
async def full(service: Service, database: Database) -> TestOrganization:
    """An organization with something in every collection, which tests leave as it is."""
    organization = await create_test_organization(database)
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        await fill(client, database, organization)
    return organization


@pytest.fixture(scope="module")
async def exported(
    database: Database, full: TestOrganization, tmp_path_factory: pytest.TempPathFactory
) -> Exported:
    """The full organization's archive, and what it counts."""
    file = tmp_path_factory.mktemp("exported") / "organization.jsonl"
    return Exported(file, await export(database, full.id, file))


async def export(database: Database, org_id: OrgId, path: Path) -> dict[str, int]:
    """Write an organization to a file; gives its counts."""
    reported = []
    counts = await export_organization(
        database, org_id, path, lambda total, more: reported.append((total, more))
    )
    assert sum(more for _, more in reported) == reported[-1][0] == counts.total()
    return counts


class Interruption:
    """Ends a restore as Ctrl-C does, once more than this share of the file is stored."""

    def __init__(self, file: Path, share: float) -> None:
        lines = file.read_bytes().splitlines(keepends=True)
        checked = sum(map(len, lines[1:-1]))
        self._limit = checked + share * (checked + len(lines[0]))
        self._done = 0

    def __call__(self, more: int) -> None:
        self._done += more
        if self._done > self._limit:
            raise KeyboardInterrupt


async def restore(database: Database, path: Path) -> RestoreResult:
    """Restore a file; every byte of it is told of."""
    done: list[int] = []
    restored = await restore_organization(database, path, utc_now(), done.append, lambda _: False)
    assert 0 < sum(done) <= 2 * size_of(path)
    return restored


def archive_content(path: Path) -> tuple[dict[str, object], list[bytes], dict[str, int]]:
    """What a file says, but when it was made: its head, its documents, and how many they are."""
    head, *documents, end = path.read_bytes().splitlines()
    header = {name: value for name, value in json.loads(head).items() if name != "exported_at"}
    return header, documents, json.loads(end)["counts"]


def mode_of(path: Path) -> int:
    """What kind of file it is, and who may do what with it."""
    return path.stat().st_mode


def size_of(path: Path) -> int:
    """How many bytes a file has."""
    return path.stat().st_size


def test_every_collection_is_archived_or_named_as_not() -> None:
    """A collection that is added must be put into the archive, or into the list of what is not."""
    [storage] = map(Path, backend.storage.__path__)
    modules = [
        import_module(".".join(["backend.storage", *path.relative_to(storage).with_suffix("").parts]))
        for path in storage.rglob("*.py")
    ]
    names = {module.NAME for module in modules if hasattr(module, "NAME")}
    names |= {resource.collection for resource in RESOURCES}
    assert sorted(collection.name for collection in COLLECTIONS) == sorted(names)


async def test_a_round_trip_changes_nothing(
    elsewhere: Database, exported: Exported, full: TestOrganization, tmp_path: Path
) -> None:
    """Exported, restored elsewhere and exported again, it says the same to the byte, at another time."""
    first, counts, second = exported.file, exported.counts, tmp_path / "second.jsonl"
    assert {name for name, count in counts.items() if count} == archived_collections().keys()
    restored = await restore(elsewhere, first)
    assert (restored.counts, restored.resumed) == (counts, False)
    await export(elsewhere, full.id, second)
    assert archive_content(first) == archive_content(second)
    assert first.stat().st_mode & 0o777 == 0o600


async def test_what_is_no_file_is_written_into(
    exported: Exported, full: TestOrganization, database: Database, tmp_path: Path
) -> None:
    """An export to a device or a pipe leaves it in place, and one to a symbolic link replaces its file."""
    await export(database, full.id, Path(os.devnull))
    assert stat.S_ISCHR(mode_of(Path(os.devnull)))
    target, link = tmp_path / "kept.jsonl", tmp_path / "latest.jsonl"
    target.write_text("before")
    link.symlink_to(target)
    await export(database, full.id, link)
    assert link.is_symlink()
    assert archive_content(target) == archive_content(exported.file)


def test_a_pipe_is_written_into_by_its_link() -> None:
    """As /dev/stdout before a pipe: the link has another name than any file."""
    reading, writing = os.pipe()
    with whole_or_nothing(Path(f"/dev/fd/{writing}")) as file:
        file.write(b"archive")
    assert write_left_out(Path(f"/dev/fd/{writing}"), []) == Path(f"/dev/fd/{writing}")
    os.close(writing)
    with os.fdopen(reading, "rb") as read:
        assert read.read().startswith(b"archiveline,")


async def test_types_are_kept_and_keys_work(
    database: Database, elsewhere: Database, exported: Exported, full: TestOrganization
) -> None:
    """Amounts are exact decimals, times are times, and a key opens what it opened before."""
    file = exported.file
    await restore(elsewhere, file)
    key = await api_keys.find_active_key(elsewhere, hash_key(full.rest_key), utc_now())
    assert key
    assert key.org_id == full.id
    assert full.rest_key not in file.read_text()
    query = {"org_id": full.id}
    assert await elsewhere[CONVERSIONS].find_one(query) == await database[CONVERSIONS].find_one(query)
    assert await links.list_links(elsewhere, full.id, skip=0, limit=9) == await links.list_links(
        database, full.id, skip=0, limit=9
    )


async def test_external_ids_and_the_archive_are_kept(
    database: Database, elsewhere: Database, exported: Exported, full: TestOrganization
) -> None:
    """A restored link has its external id, which nobody else can take, and is archived if it was."""
    file = exported.file
    await restore(elsewhere, file)
    for link_filter in (LinkFilter(external_id="sku-0"), LinkFilter(external_id="sku-1")):
        before, after = [
            await list_page(
                searched,
                full.id,
                link_filter,
                LinkSort(LinkOrder.NAME, False),
                now=datetime.now(UTC),
                skip=0,
                limit=9,
            )
            for searched in (database, elsewhere)
        ]
        assert before == after != []
    assert await links.count_archived(elsewhere, full.id) == 1


async def test_nothing_of_others_is_in_the_file(
    database: Database, full: TestOrganization, organization: TestOrganization, tmp_path: Path
) -> None:
    """The file of an organization without links holds none of another's documents."""
    file = tmp_path / "organization.jsonl"
    counts = await export(database, organization.id, file)
    assert counts == {"organizations": 1, "domains": 1, "origins": 1, "api_keys": 3}
    assert full.id not in file.read_text()


async def test_a_restore_goes_on_where_it_was(
    elsewhere: Database, exported: Exported, full: TestOrganization, tmp_path: Path
) -> None:
    """Interrupted anywhere, a restore leaves no organization; run again, it ends in the same database."""
    file, after = exported.file, tmp_path / "after.jsonl"
    for tenth in range(10):
        with pytest.raises(KeyboardInterrupt):
            await restore_organization(
                elsewhere, file, utc_now(), Interruption(file, tenth / 10), lambda _: False
            )
        with pytest.raises(organizations.UnknownOrganization):
            await organizations.get_organization(elsewhere, full.id)
        assert await api_keys.find_active_key(elsewhere, hash_key(full.rest_key), utc_now()) is None
    assert (await restore(elsewhere, file)).resumed
    await export(elsewhere, full.id, after)
    assert archive_content(file) == archive_content(after)


async def test_what_changed_while_a_restore_lay_still_stays(
    elsewhere: Database, exported: Exported, full: TestOrganization
) -> None:
    """A count that was restored and has grown since is not set back when the restore goes on."""
    file = exported.file
    with pytest.raises(KeyboardInterrupt):
        await restore_organization(elsewhere, file, utc_now(), Interruption(file, 0.97), lambda _: False)
    await elsewhere["restores"].update_one({"_id": full.id}, {"$set": {"position": 0}})
    total = {"_id": {"$regex": "/total$"}}
    await elsewhere["install_counts"].update_many(total, {"$inc": {"parts.all": 100}})
    await restore(elsewhere, file)
    assert {document["parts"]["all"] > 100 async for document in elsewhere["install_counts"].find(total)} == {
        True
    }


async def test_a_restore_refuses_what_is_taken(
    database: Database, elsewhere: Database, exported: Exported, full: TestOrganization
) -> None:
    """Where the organization is there, or its domain is another's, nothing at all is stored."""
    file = exported.file
    with pytest.raises(AlreadyTaken, match=f"an organization with the id {full.id}"):
        await restore(database, file)
    other = await create_test_organization(elsewhere)
    await insert_domain(elsewhere, full.domain, other.id, datetime.now(UTC))
    with pytest.raises(AlreadyTaken, match=f"the domain {full.domain}"):
        await restore(elsewhere, file)
    assert [organization.id for organization in await organizations.list_organizations(elsewhere)] == [
        other.id
    ]
    assert await links.count_links(elsewhere, full.id) == 0


async def test_users_of_several_organizations(
    database: Database, elsewhere: Database, make_organization: OrganizationFactory, tmp_path: Path
) -> None:
    """A user is exported without other organizations, and acts for each that is restored."""
    first, second = await make_organization(), await make_organization()
    org_ids = (first.id, second.id, OrgId("another"))
    user = User(UserId(str(uuid.uuid4())), f"ada@{first.domain}", PASSWORD_HASH, org_ids, datetime.now(UTC))
    await users.insert_user(database, user)
    await users.set_roles(database, user.id, {first.id: Role.OWNER, second.id: Role.VIEWER})
    for organization in (first, second):
        file = tmp_path / f"{organization.id}.jsonl"
        await export(database, organization.id, file)
        await restore(elsewhere, file)
    assert [user.org_ids for user in await users.list_users_of_all(elsewhere)] == [(first.id, second.id)]
    [user] = await users.list_users(elsewhere, first.id)
    assert user.roles == {first.id: Role.OWNER, second.id: Role.VIEWER}


async def test_another_file_does_not_go_on_with_a_restore(
    database: Database, elsewhere: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """A restore that was begun is finished with its own file only."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    await export(database, organization.id, first)
    await insert_domain(database, f"x{organization.domain}", organization.id, datetime.now(UTC))
    await export(database, organization.id, second)
    with pytest.raises(KeyboardInterrupt):
        await restore_organization(elsewhere, first, utc_now(), Interruption(first, 0.5), lambda _: False)
    with pytest.raises(OtherRestoreUnfinished):
        await restore(elsewhere, second)
    assert (await restore(elsewhere, first)).resumed


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b'"format": "waylink-organization"', b'"format": "other"', "is not an archive"),
        (b'"version": 3', b'"version": 1', "has the format version 1; this Waylink reads 3"),
        (b'"org_id": "', b'"org_id": "x', "does not name its organization"),
        (b'"collection":"links"', b'"collection":"secrets"', "is not a document of a collection"),
        (b"https://shop.example/1", b"https://shop.example/9", "counts or SHA-256 do not match"),
        (b'{"counts": ', b'{"numbers": ', "is not a document of a collection"),
        (b'"document":{', b'"document":', "is not a document of a collection"),
    ],
)
async def test_a_changed_file_is_refused(
    elsewhere: Database,
    exported: Exported,
    tmp_path: Path,
    old: bytes,
    new: bytes,
    sentence: str,
) -> None:
    """A file that is not as it was written is refused before anything is stored."""
    file, content = tmp_path / "organization.jsonl", exported.file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new))
    with pytest.raises(UnreadableArchive, match=sentence):
        await restore(elsewhere, file)
    assert await elsewhere["restores"].count_documents({}) == 0


async def test_a_file_that_is_cut_off_is_refused(
    elsewhere: Database, exported: Exported, tmp_path: Path
) -> None:
    """Wherever a file ends too early, it is refused."""
    file, content = tmp_path / "organization.jsonl", exported.file.read_bytes()
    lines = content.splitlines(keepends=True)
    for kept in (b"", b"".join(lines[:1]), b"".join(lines[:-1]), content[:-20], content[: len(content) // 2]):
        file.write_bytes(kept)
        with pytest.raises(UnreadableArchive):
            await restore(elsewhere, file)
    file.write_bytes(content + lines[1])
    with pytest.raises(UnreadableArchive, match="something behind"):
        await restore(elsewhere, file)


async def test_an_export_that_fails_leaves_the_old_file(
    database: Database, full: TestOrganization, tmp_path: Path
) -> None:
    """An export that ends in the middle leaves the file that was there, and nothing half-written."""
    file = tmp_path / "organization.jsonl"
    file.write_text("the old one")

    def fail(total: int, more: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await export_organization(database, full.id, file, fail)
    assert file.read_text() == "the old one"
    assert names_in(tmp_path) == ["organization.jsonl"]


async def test_an_export_reads_its_file_back(
    database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """What a restore would refuse is told at once, with its line, and the file that was there stays."""
    file = tmp_path / "organization.jsonl"
    file.write_text("the old one")
    await unrecorded(database)["annotations"].insert_one(
        {"_id": str(uuid.uuid4()), "org_id": organization.id, "at": "yesterday"}
    )
    with pytest.raises(RefusedArchive, match=r"line \d+, annotations: "):
        await export_organization(database, organization.id, file, lambda *_: None)
    assert file.read_text() == "the old one"
    assert names_in(tmp_path) == ["organization.jsonl"]


def names_in(folder: Path) -> list[str]:
    """The files of a folder."""
    return [path.name for path in folder.iterdir()]


def test_lines_are_json() -> None:
    """Every line can be read by any JSON reader, whatever a name holds."""
    document = {"_id": "x", "name": "a\nb\u2028c\x85", "nested": [{"n": 2**40}]}
    assert "\n" not in to_json(document)
    assert json.loads(to_json(document))["nested"] == [{"n": {"$numberLong": str(2**40)}}]
    assert from_json(to_json(document)) == document

"""`waylink export` and `waylink restore`, one of them killed."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from backend.archives.archive_file import ArchiveWriter, read_entries, read_header
from backend.storage.lifecycle.collections import archived_collections
from tests.polling import wait_for
from tests.processes.forked.service import forked_command
from tests.processes.service_process import ServiceProcess, environment_of, invoke, own_database, run_command

MANY = 12_000
PASSWORD = "correct horse battery"
DOMAIN = "go.archived.example"


def export_one(running: ServiceProcess, folder: Path) -> tuple[str, Path]:
    """An organization's id and its file, exported beside a running service."""
    org_id = str(running.command("organization", "create", "Acme")["id"])
    running.command("domain", "add", DOMAIN, "--org", org_id)
    rows = folder / "links.csv"
    rows.write_text(f"domain,destination_url,link_name\n{DOMAIN},https://shop.example/a,A\n")
    running.command("import", "csv", str(rows), "--org", org_id)
    file = folder / "acme.jsonl"
    exported = running.command("export", "--org", org_id, "-o", str(file))
    assert exported | {"links": 1, "domains": 1, "organizations": 1} == exported
    return org_id, file


def multiplied(file: Path) -> Path:
    """The same archive with many links, and without its feed, which may have had its places or not."""
    header = read_header(file)
    many = file.with_suffix(".many.jsonl")
    with many.open("wb") as opened:
        writer = ArchiveWriter(opened)
        writer.write_header(header)
        for entry in read_entries(file, header):
            if entry.collection.startswith("feed_"):
                continue
            for number in range(MANY if entry.collection == "links" else 1):
                new = {"_id": str(uuid.uuid4()), "path": str(number)} if number else {}
                writer.write_document(entry.collection, entry.document | new)
        writer.write_end()
    return many


def kill_while_it_stores(
    command: tuple[str, ...], environment: dict[str, str], log: Path, restores: Any
) -> None:
    """Start the command, and kill it as soon as some of the file is stored."""
    with forked_command(environment, log, command) as process:
        wait_for(
            lambda: restores.find_one({"position": {"$gt": 20_000}}) or process.poll() is not None,
            "nothing is stored",
            seconds=60,
        )
        assert process.poll() is None, "the restore ended before it could be killed"
        process.kill()


def test_a_killed_restore_goes_on(tmp_path: Path, running: ServiceProcess, mongodb_uri: str) -> None:
    """Killed while it stores, a restore leaves no organization; the next one ends with all, and a third is
    refused. The audit log has the export, and the restore that ended."""
    org_id, file = export_one(running, tmp_path)
    [logged] = running.command("audit", "--org", org_id, "--action", "organization.exported")["entries"]
    assert logged["actor"]["kind"] == "command_line"
    with (
        own_database(mongodb_uri) as variables,
        MongoClient[dict[str, Any]](mongodb_uri) as client,
    ):
        environment = environment_of(tmp_path / "to", **variables)
        stored = client[variables["WAYLINK_MONGODB_DATABASE"]]
        command = ("restore", str(multiplied(file)))
        kill_while_it_stores(command, environment, tmp_path / "log", stored["restores"])
        assert run_command("organization", "list", environment=environment) == {"organizations": []}
        restored = run_command(*command, environment=environment)
        assert restored == {
            "org_id": org_id,
            "name": "Acme",
            "resumed": True,
            "documents": MANY + 2,
            "links": MANY,
            "domains": 1,
            "organizations": 1,
        }
        assert stored["links"].count_documents({}) == MANY
        assert stored["feed_entries"].distinct("facts.action") == ["organization.restored"]
        again = invoke(*command, environment=environment)
        assert again.exit_code == 1
        assert f"already has an organization with the id {org_id}" in again.stderr


def test_a_restore_of_an_owners_file_says_how_to_get_in(
    running: ServiceProcess, tmp_path: Path, mongodb_uri: str
) -> None:
    """It has no passwords: the command says so, and names what prints a link for a new one to an owner."""
    org_id = str(running.command("organization", "create", "Boats")["id"])
    running.command(
        "user", "create", "ada@boats.example", "--org", org_id, "--password-stdin", typed=PASSWORD
    )
    exported, owners = tmp_path / "exported.jsonl", tmp_path / "owners.jsonl"
    running.command("export", "--org", org_id, "-o", str(exported))
    header, collections = read_header(exported), archived_collections()
    with owners.open("wb") as opened:
        writer = ArchiveWriter(opened)
        writer.write_header(replace(header, has_credentials=False))
        for entry in read_entries(exported, header):
            of = collections[entry.collection]
            part = of.part_of(entry.document, header.org_id, with_credentials=False)
            writer.write_document(entry.collection, part)
        writer.write_end()
    with own_database(mongodb_uri) as variables:
        environment = environment_of(tmp_path / "to", **variables)
        told = invoke("restore", str(owners), environment=environment).stderr
        assert "it has no passwords" in told
        [command] = re.findall(r"^  waylink (user reset \S+)$", told, re.MULTILINE)
        assert "/new-password/" in run_command(*command.split(), environment=environment)["url"]


def test_a_restore_says_whom_to_invite(running: ServiceProcess, tmp_path: Path, mongodb_uri: str) -> None:
    """A member whose address another account has is left out; the command that invites them is told."""
    org_id = str(running.command("organization", "create", "Cars")["id"])
    email = "ada@cars.example"
    running.command("user", "create", email, "--org", org_id, "--password-stdin", typed=PASSWORD)
    exported = tmp_path / "exported.jsonl"
    running.command("export", "--org", org_id, "-o", str(exported))
    with own_database(mongodb_uri) as variables:
        environment = environment_of(tmp_path / "to", **variables)
        other = str(run_command("organization", "create", "Other", environment=environment)["id"])
        create = ("user", "create", email, "--org", other, "--password-stdin")
        run_command(*create, environment=environment, typed=PASSWORD)
        told = invoke("restore", str(exported), environment=environment).stderr
        [command] = re.findall(r"^  waylink (user invite .+)$", told, re.MULTILINE)
        assert command == f"user invite {email} --org {org_id} --role owner"
        assert "/join/" in run_command(*command.split(), environment=environment)["url"]


def test_a_forged_file_does_not_control_the_terminal(running: ServiceProcess, tmp_path: Path) -> None:
    """What a refusal quotes of a file is shown without characters that control terminals."""
    file = tmp_path / "forged.jsonl"
    file.write_text('{"format": "waylink-organization", "version": "\\u001b[2Jgone"}\n')
    refusal = running.refusal("restore", str(file))
    assert "has the format version \ufffd[2Jgone" in refusal

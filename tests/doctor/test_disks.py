"""Whether clicks can be kept is tried, not asked, and for how many there is room is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from backend.doctor import disks
from backend.doctor.disks import examine_folder, examine_mongodb_disk, examine_owners
from backend.domain.finding import Severity
from backend.storage.driver.disk import LITTLE_SPACE, Disk, read_disk
from backend.storage.driver.mongo import Database
from tests.processes.service_process import invoke, own_database, run_command
from tests.processes.small_disk import full_disk


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """Although its folder may be written, no file can be; what else is there stays as it was."""
    with full_disk(tmp_path) as full:
        finding = examine_folder(full / "clicks")
        assert [path.name for path in full.iterdir()] == ["all of it"]
    assert finding.severity is Severity.ERROR
    assert "(No space left on device): clicks are lost while MongoDB is away" in finding.message
    assert finding.advice == "Make room on its disk, or name a folder on another one."


def test_the_command_tells_of_both_disks(tmp_path: Path, mongodb_uri: str) -> None:
    """`waylink doctor` writes into the folder of its settings, and asks MongoDB for its room."""
    with full_disk(tmp_path) as full, own_database(mongodb_uri) as variables:
        # A MongoDB in which nothing is stored does not tell.
        run_command(
            "organization", "create", "Acme", environment=variables | {"WAYLINK_DATA_DIR": str(tmp_path)}
        )
        done = invoke("doctor", "--json", environment=variables | {"WAYLINK_DATA_DIR": str(full / "data")})
    findings = {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}
    folder, disk = findings["WAYLINK_DATA_DIR"], findings["MongoDB's disk"]
    assert (done.exit_code, folder["severity"], folder["area"]) == (1, "error", "configuration")
    assert "(No space left on device)" in folder["message"]
    assert disk["area"] == "storage"
    assert "clicks, at 23 to 14 bytes each." in disk["message"]


def test_a_disk_with_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much is left, and for how many clicks; where it is little, that is a warning. Nothing stays."""
    room = os.statvfs(tmp_path)
    free = room.f_bavail * room.f_frsize
    finding = examine_folder(tmp_path / "data" / "clicks")
    assert finding.severity is (Severity.OK if free >= LITTLE_SPACE else Severity.WARNING)
    shown = float(finding.message.split(" GB are left")[0].split()[-1].replace(",", ""))
    assert shown == pytest.approx(free / 1e9, abs=1)
    assert finding.message.endswith(" clicks that wait, at 180 bytes each.")
    monkeypatch.setattr(disks, "LITTLE_SPACE", 2 * free)
    assert examine_folder(tmp_path).severity is Severity.WARNING
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_entered(tmp_path: Path) -> None:
    """A file where the folder should be: nothing can be written there, whoever asks."""
    (tmp_path / "data").touch()
    finding = examine_folder(tmp_path / "data" / "clicks")
    assert (finding.severity, "Not a directory" in finding.message) == (Severity.ERROR, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_files_of_somebody_else(tmp_path: Path) -> None:
    """A file that root left in a folder of another user is told, with the command that mends it."""
    mongodb = tmp_path / "mongodb"
    mongodb.mkdir()
    assert list(examine_owners(tmp_path)) == []
    os.chown(mongodb, 12_345, -1)
    [finding] = examine_owners(tmp_path)
    assert (finding.severity, finding.advice) == (
        Severity.WARNING,
        f"chown -R --reference={tmp_path} {tmp_path}",
    )
    assert (
        f"1 files in {tmp_path} belong to another user than the folder, such as {mongodb}" in finding.message
    )


async def test_the_disk_of_mongodb(database: Database) -> None:
    """The server tells how much it has, and how much of that is left."""
    disk = await read_disk(database)
    assert disk
    assert 0 < disk.free < disk.total
    few = examine_mongodb_disk(Disk(total=80_000_000_000, free=1_770_000_000))
    assert (few.severity, few.message) == (
        Severity.OK,
        "The disk of the member that answers has 1.8 GB of 80.0 GB left: room for 77 million to 126 million "
        "clicks, at 23 to 14 bytes each.",
    )
    assert examine_mongodb_disk(Disk(total=80_000_000_000, free=900_000_000)).severity is Severity.WARNING

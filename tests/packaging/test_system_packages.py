"""`deploy/system_packages.sh`, which `make` runs first: what it does on machines that lack packages.

The machine is a folder of programs that say what the real ones would say there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "system_packages.sh"
ALL = "libcurl.so.4 libssl.so.3 liblzma.so.5"


class Machine:
    """A machine with only these programs; `answers` is what each prints."""

    def __init__(self, folder: Path, **answers: str) -> None:
        self.folder = folder
        self.installed = folder / "apt"
        for name in ("sh", "basename", "cat"):
            (folder / name).symlink_to(shutil.which(name) or name)
        self.add("uname", "echo Linux x86_64")
        for name, answer in answers.items():
            self.add(name, answer)

    def add(self, name: str, script: str) -> None:
        """Put a program on the machine."""
        program = self.folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def add_apt(self, status: int = 0) -> None:
        """Put apt on the machine, which notes what it is asked for."""
        self.add("apt-get", f'echo "$@" >> {self.installed}; exit {status}')

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script there."""
        environment = {"PATH": str(self.folder), **variables}
        script = self.folder / "script"
        # Also the system's own folders would be searched for ldconfig.
        script.write_text(SCRIPT.read_text().replace(":/sbin:/usr/sbin", ""))
        return subprocess.run(
            ["/bin/sh", str(script), "python3"], env=environment, capture_output=True, text=True, check=False
        )


BARE = {"id": "echo 1000", "ldconfig": "echo libc.so.6", "python3": "exit 1"}


def test_a_machine_that_has_everything(tmp_path: Path) -> None:
    """Where nothing is missing nothing is said, and apt is not asked."""
    machine = Machine(tmp_path, id="echo 0", ldconfig=f"echo {ALL}", python3="exit 0")
    machine.add_apt()
    done = machine.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not machine.installed.exists()


def test_all_that_is_missing_is_said_in_one_line(tmp_path: Path) -> None:
    """Who is not root reads one command that installs everything, and nothing goes on."""
    machine = Machine(tmp_path, **BARE)
    machine.add_apt()
    done = machine.run()
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("sudo apt-get install python3-venv libcurl4 libssl3 liblzma5\n")
    assert not machine.installed.exists()


def test_root_installs_it(tmp_path: Path) -> None:
    """As root with apt the missing packages are installed."""
    machine = Machine(tmp_path, **BARE | {"id": "echo 0", "python3": "exit 0"})
    machine.add_apt()
    assert machine.run().returncode == 0
    assert machine.installed.read_text().splitlines()[1].endswith(" libcurl4 libssl3 liblzma5")


def test_apt_that_fails(tmp_path: Path) -> None:
    """Where apt can't install them, the packages are named all the same."""
    machine = Machine(tmp_path, **BARE | {"id": "echo 0"})
    machine.add_apt(status=100)
    done = machine.run()
    assert done.returncode == 1
    assert "sudo apt-get install python3-venv libcurl4" in done.stderr


@pytest.mark.parametrize("variables", [{"WAYLINK_MONGODB_URI": "mongodb://elsewhere/"}, {}])
def test_a_mongodb_of_its_own_needs_no_libraries(tmp_path: Path, variables: dict[str, str]) -> None:
    """With a MongoDB elsewhere, or a mongod on the machine, only Python is looked at."""
    machine = Machine(tmp_path, **BARE | {"python3": "exit 0"})
    if not variables:
        machine.add("mongod", "exit 0")
    assert machine.run(**variables).returncode == 0


def test_the_script_is_a_program() -> None:
    """`make` can run it."""
    assert os.access(SCRIPT, os.X_OK)

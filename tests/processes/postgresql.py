"""A real PostgreSQL server for tests, from the system's packages."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.polling import wait_for
from tests.processes.programs import find_program
from tests.processes.service_process import free_port

# Its packages put it here, and not on the PATH.
_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


@dataclass(slots=True)
class PostgreSQL:
    """A running server. Everybody on this machine may connect as its owner, `waylink`."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    def address(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://waylink@127.0.0.1:{self.port}/{database}"

    def make_database(self, name: str) -> str:
        """Make an empty database; gives its address."""
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return self.address(name)

    def restart(self) -> None:
        """Kill it with everything that it does, as a power cut would, and start it again."""
        self.process.send_signal(signal.SIGQUIT)  # its children end with it, and nothing is written any more
        self.process.wait(timeout=60)
        self.process = _start(self.folder, self.port)


def query(address: str, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The rows that this statement gives."""
    with psycopg.connect(address) as connection:
        return connection.execute(statement, parameters).fetchall()


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """A new server for the length of the block."""
    # Nobody but root enters the folders of a test that root runs, and the server refuses to be root's.
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        owner = _owner()
        if owner is not None:
            os.chown(folder, owner, owner)
        options = ("--username=waylink", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        subprocess.run(
            [_program("initdb"), "--pgdata", folder / "data", *options],
            check=True, capture_output=True, user=owner, group=owner,
        )  # fmt: skip
        server = PostgreSQL(folder, port := free_port(), _start(folder, port))
        try:
            yield server
        finally:
            server.process.send_signal(signal.SIGQUIT)
            server.process.wait(timeout=60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> int | None:
    """The user whose server it is; None for who runs the tests."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _program(name: str) -> str:
    """Its path. Without it the test is skipped, in continuous integration it fails."""
    packaged = next((str(folder / name) for folder in _FOLDERS if (folder / name).exists()), None)
    return packaged or find_program(name, "postgresql")


def _start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    owner = _owner()
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": port,
        "unix_socket_directories": "",
        "fsync": "off",  # it is killed, but not the machine
        "max_connections": 20,
        "shared_buffers": "16MB",
        "log_min_messages": "fatal",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [_program("postgres"), "-D", folder / "data", *options],
            stdout=log, stderr=log, user=owner, group=owner, cwd=folder,
        )  # fmt: skip
    wait_for(lambda: process.poll() is not None or _answers(port), "PostgreSQL did not start", seconds=60)
    assert process.poll() is None, (folder / "log").read_text()
    return process


def _answers(port: int) -> bool:
    try:
        psycopg.connect(host="127.0.0.1", port=port, user="waylink", dbname="postgres").close()
    except psycopg.OperationalError:
        return False
    return True

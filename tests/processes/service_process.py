"""`waylink` as its owner runs it: a process on a free port, with settings from the environment.

Commands run in the test's process, which costs a tenth; `forked_command` forks one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import select
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from click import Command
from click.testing import CliRunner, Result
from pymongo import MongoClient

from backend.cli import main
from backend.environment import load_settings
from tests import used_databases
from tests.processes.forked.service import ForkedProcess, forked
from tests.processes.suspended import suspend

WAYLINK = (sys.executable, "-m", "backend.cli")
SERVE = (*WAYLINK, "serve", "--json")


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A running service: its process, its settings, and the address of its API."""

    process: subprocess.Popen[str] | ForkedProcess
    environment: dict[str, str]
    base_url: str

    @property
    def log_lines(self) -> list[dict[str, Any]]:
        """Each line of JSON that it has logged."""
        return [json.loads(line) for line in self.log_text.splitlines() if line.startswith("{")]

    @property
    def log_text(self) -> str:
        """All that it wrote to stderr."""
        return Path(self.environment["WAYLINK_DATA_DIR"], "log").read_text()

    def command(self, *arguments: str, typed: str = "", exit_code: int = 0) -> dict[str, Any]:
        """Run a `waylink` command with --json beside the service, and give what it printed."""
        return run_command(*arguments, environment=self.environment, typed=typed, exit_code=exit_code)

    def refusal(self, *arguments: str, typed: str = "") -> str:
        """What a `waylink` command that must fail says."""
        done = invoke(*arguments, environment=self.environment, typed=typed)
        assert done.exit_code != 0, done.stdout
        return done.stderr

    def stored(self, collection: str, **fields: object) -> list[dict[str, Any]]:
        """The documents of a collection that have these fields, read beside the running service.

        Its MongoDB must be one that WAYLINK_MONGODB_URI names.
        """
        settings = load_settings(self.environment, Path("none"))
        with MongoClient[dict[str, Any]](settings.mongodb_uri, tz_aware=True) as client:
            return list(client[settings.mongodb_database][collection].find(fields))

    @property
    def workers(self) -> set[int]:
        """The ids of its worker processes: its children that are forks of it."""
        parent = self.process.pid
        children = map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())
        return {pid for pid in children if _command_line(pid) == _command_line(parent)}

    def kill(self) -> None:
        """End it and its workers at once, as a power cut would; its port is free then."""
        suspend(self.process.pid)  # else it may just be replacing a worker
        workers = [os.pidfd_open(pid) for pid in self.workers]
        self.process.kill()
        for worker in workers:
            signal.pidfd_send_signal(worker, signal.SIGKILL)
        self.process.wait(timeout=60)
        for worker in workers:
            ended, _, _ = select.select([worker], [], [], 60)
            os.close(worker)
            assert ended, "a worker that was killed does not end"

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, and give the exit code once the process has ended."""
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@contextmanager
def service_process(
    data_dir: Path, command: Sequence[str] | None = None, *, module: str | None = None, **settings: str
) -> Iterator[ServiceProcess]:
    """A service for the length of the block; `settings` are WAYLINK_ variables.

    It is `waylink serve --json`, forked, or so is `module` instead, unless there is a command to start. What
    it logs is in the file `log` of `data_dir`.
    """
    usual = {"WAYLINK_PORT": str(free_port()), "WAYLINK_DRAIN_SECONDS": "0.05"}
    environment = environment_of(data_dir, **(usual | settings))
    data_dir.mkdir(parents=True, exist_ok=True)
    log = data_dir / "log"
    starting = started(command, environment, log) if command else forked(environment, log, module)
    with starting as (process, printed):
        try:
            ready = printed.readline()
            assert ready, f"the service ended before it was ready: {log.read_text()}"
            yield ServiceProcess(process, environment, json.loads(ready)["base_url"])
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(timeout=60)


@contextmanager
def started(
    command: Sequence[str], environment: dict[str, str], log: Path
) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A process of this command, and what it prints; it writes stderr to `log`."""
    with (
        log.open("a") as written,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=written, text=True, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        yield process, process.stdout


@contextmanager
def own_database(mongodb_uri: str) -> Iterator[dict[str, str]]:
    """Settings that give a service a database of its own on this MongoDB, with nothing in it.

    It may have been another test's, and have its indexes already.
    """
    hosts, name = used_databases.hosts_of(mongodb_uri), None
    if used_databases.has_any(hosts):
        with MongoClient[dict[str, Any]](mongodb_uri) as client:
            name = used_databases.take(hosts, client)
    name = name or f"test_{uuid.uuid4().hex[:12]}"
    yield {"WAYLINK_MONGODB_URI": mongodb_uri, "WAYLINK_MONGODB_DATABASE": name}
    used_databases.give_back(hosts, name)


def run_command(
    *arguments: str, environment: dict[str, str], typed: str = "", exit_code: int = 0
) -> dict[str, Any]:
    """What `waylink ARGUMENTS --json` printed; it must end with this code, which is that of success."""
    done = invoke(*arguments, "--json", environment=environment, typed=typed)
    assert done.exit_code == exit_code, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def invoke(*arguments: str, environment: dict[str, str], typed: str = "", command: Command = main) -> Result:
    """`waylink ARGUMENTS`, or another command, run in this process; what it does not expect is raised."""
    settings: dict[str, str | None] = dict.fromkeys(_settings_in(dict(os.environ)))
    # In a thread, since an event loop of the test, or of Playwright, may run in this one.
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(
            CliRunner().invoke,
            command,
            arguments,
            input=typed,
            env=settings | _settings_in(environment),
            prog_name="waylink",
        ).result()
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def _settings_in(environment: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in environment.items() if name.startswith("WAYLINK_")}


def environment_of(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment of a `waylink` process that keeps its data in `data_dir`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("WAYLINK_")}
    return inherited | {"WAYLINK_DATA_DIR": str(data_dir)} | settings


def free_port() -> int:
    """A port that nothing uses, and that nothing else is given before a server listens there.

    It is below those that the system hands out, since one of them may be the near end of any connection
    by the time a server starts. Each process of a test run has its own thousand.
    """
    while True:
        port = next(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_free(port: int) -> bool:
    """Whether a server may listen on this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _command_line(pid: int) -> bytes:
    """What the process was started as; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _own_ports() -> Iterator[int]:
    """The ports of this process of the test run, round and round, from any of them on."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 20
    ports = range(12_000 + 1_000 * number, 13_000 + 1_000 * number)
    begin = secrets.randbelow(len(ports))
    return itertools.cycle([*ports[begin:], *ports[:begin]])


_PORTS = _own_ports()

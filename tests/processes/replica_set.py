"""A replica set of real mongod processes, one of which can be killed."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from backend.storage.embedded.mongod_process import find_mongod
from tests.polling import wait_for
from tests.processes.service_process import free_port
from tests.processes.suspended import suspended

NAME = "waylink"
PATIENCE = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """The running members, by port."""

    members: dict[int, subprocess.Popen[bytes]]

    @property
    def uri(self) -> str:
        """The URI that names every member."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.members)
        return f"mongodb://{hosts}/?replicaSet={NAME}"

    def kill_primary(self) -> int:
        """Kill the member that takes writes, as a power cut would; gives its port."""
        port = self.wait_for_primary()
        self.members[port].kill()
        self.members[port].wait()
        return port

    def frozen(self, *ports: int) -> AbstractContextManager[None]:
        """These members, or all, neither answer nor close connections for the length of the block."""
        return suspended(*(self.members[port].pid for port in ports or self.members))

    def restart(self, port: int) -> None:
        """End a member in order, as an upgrade does, and start it again."""
        self.members[port].terminate()
        self.members[port].wait(timeout=PATIENCE)
        self.start_again(port)

    def start_again(self, port: int) -> None:
        """Start a member that has ended, on what it has stored."""
        self.members[port] = _start(cast("list[str]", self.members[port].args))

    def lag_behind(self) -> None:
        """The member that takes writes hands over to another one, and takes nothing from it."""
        primary = self.wait_for_primary()
        _set_fail_point(primary, "stopReplProducer", "alwaysOn")
        with _client(primary) as client:
            client.admin.command("replSetStepDown", 60, secondaryCatchUpPeriodSecs=10)

    def stop_replication(self) -> None:
        """The other members take nothing more from the one that takes writes, and elect no other."""
        primary = self.wait_for_primary()
        for port in self.members:
            if port != primary:
                _set_fail_point(port, "stopReplProducer", "alwaysOn")

    def resume_replication(self) -> None:
        """The members that run replicate again."""
        for port, member in self.members.items():
            if member.poll() is None:
                _set_fail_point(port, "stopReplProducer", "off")

    def fail_commands(self, *names: str, code: int = 96) -> None:
        """Have the member that takes writes refuse these commands of the service, from now on; or none."""
        with _client(self.wait_for_primary()) as client:
            data = {"failCommands": names, "errorCode": code, "appName": "waylink"}
            mode = "alwaysOn" if names else "off"
            client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)

    def delay_commands(self, *names: str, seconds: float) -> None:
        """Have the member that takes writes answer these commands of the service so much later; or none."""
        with _client(self.wait_for_primary()) as client:
            delay = {"blockConnection": True, "blockTimeMS": round(seconds * 1000)}
            data = {"failCommands": names, "appName": "waylink"} | delay
            mode = "alwaysOn" if names else "off"
            client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)

    def leave_unconfirmed(self, name: str) -> None:
        """The service's next such command is carried out, but no majority seems to confirm it."""
        with _client(self.wait_for_primary()) as client:
            error = {"code": 64, "errmsg": "waiting for replication timed out"}
            data = {"failCommands": [name], "writeConcernError": error, "appName": "waylink"}
            client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=data)

    def wait_for_primary(self) -> int:
        """The port of the member that takes writes, once there is one."""
        running = [port for port, process in self.members.items() if process.poll() is None]
        return wait_for(
            lambda: next((port for port in running if _hello(port).get("isWritablePrimary")), 0),
            "no member became primary",
            seconds=PATIENCE,
        )


@contextmanager
def replica_set(
    folder: Path, size: int = 3, *, can_fail: bool = False, waits_for_disk: bool = True
) -> Iterator[ReplicaSet]:
    """A replica set that elects a new primary within about a second, for the length of the block.

    `can_fail` lets `fail_commands` have its members refuse commands, and `stop_replication` work. Without
    `waits_for_disk` a write is confirmed before it is on the disk, so such members must not be killed, unless
    it is one of three that stays away: the others have what it had confirmed.
    """
    with ExitStack() as started:
        members: dict[int, subprocess.Popen[bytes]] = {}
        for _ in range(size):
            port = free_port()
            started.enter_context(_member(members, folder / str(port), port, can_fail, waits_for_disk))
        _initiate(list(members), waits_for_disk)
        running = ReplicaSet(members)
        running.wait_for_primary()
        yield running


@contextmanager
def _member(
    members: dict[int, subprocess.Popen[bytes]],
    folder: Path,
    port: int,
    can_fail: bool,
    waits_for_disk: bool,
) -> Iterator[None]:
    """A member, in `members` by its port."""
    folder.mkdir()
    command = [
        str(find_mongod()),
        "--dbpath", str(folder),
        "--logpath", str(folder / "mongod.log"),
        "--port", str(port),
        "--bind_ip", "127.0.0.1",
        "--replSet", NAME,
        "--oplogSize", "100",
        "--wiredTigerCacheSizeGB", "0.25",
        "--nounixsocket",
        # Both as of the server that Waylink starts.
        "--setParameter", "transactionLifetimeLimitSeconds=5",
        "--setParameter", "diagnosticDataCollectionEnabled=false",
        # Tests put in what happened on fixed days; once a minute it would take away what has expired since.
        "--setParameter", "ttlMonitorEnabled=false",
        *(("--setParameter", "enableTestCommands=1") if can_fail else ()),
        # Twice a second instead of ten times, where nothing waits for it.
        *(() if waits_for_disk else ("--journalCommitInterval", "500")),
        # A run makes and drops some hundred databases of 70 collections, and would keep their files open for
        # ten minutes: more than a process may have.
        "--wiredTigerEngineConfigString",
        "file_manager=(close_idle_time=20,close_scan_interval=5,close_handle_minimum=1000)",
    ]  # fmt: skip
    members[port] = _start(command)
    try:
        yield
    finally:
        members[port].kill()
        members[port].wait()


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _initiate(ports: list[int], waits_for_disk: bool) -> None:
    wait_for(lambda: all(_hello(port) for port in ports), "a member did not start", seconds=PATIENCE)
    members = [{"_id": number, "host": f"127.0.0.1:{port}"} for number, port in enumerate(ports)]
    config = {
        "_id": NAME,
        "members": members,
        "settings": {"electionTimeoutMillis": 1000, "heartbeatIntervalMillis": 500},
        "writeConcernMajorityJournalDefault": waits_for_disk,
    }
    with _client(ports[0]) as client:
        client.admin.command("replSetInitiate", config)


def _set_fail_point(port: int, name: str, mode: str) -> None:
    with _client(port) as client:
        client.admin.command("configureFailPoint", name, mode=mode)


def _hello(port: int) -> dict[str, Any]:
    with contextlib.suppress(PyMongoError), _client(port) as client:
        return dict(client.admin.command("hello"))
    return {}


@contextmanager
def _client(port: int) -> Iterator[MongoClient[dict[str, Any]]]:
    client: MongoClient[dict[str, Any]] = MongoClient(
        "127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=500
    )
    try:
        yield client
    finally:
        client.close()

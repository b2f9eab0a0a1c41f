"""One MongoDB server for all tests that freeze it, slow it down or restart it: each leaves it whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes.replica_set import ReplicaSet, replica_set
from tests.processes.service_process import own_database


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    """The server, as a replica set of one."""
    with replica_set(tmp_path_factory.mktemp("members"), 1, can_fail=True, waits_for_disk=False) as server:
        yield server


@pytest.fixture(scope="module")
def members(server: ReplicaSet) -> Iterator[ReplicaSet]:
    """The same for a file."""
    yield server
    server.fail_commands()


@pytest.fixture(scope="module")
def own(server: ReplicaSet) -> Iterator[dict[str, str]]:
    """Settings that name a database of the file's own there."""
    with own_database(server.uri) as own:
        yield own

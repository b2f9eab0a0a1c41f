"""A replica set of three for all tests that need one: each leaves it whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes.replica_set import ReplicaSet, replica_set
from tests.processes.service_process import own_database


@pytest.fixture(scope="package")
def members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    """Three MongoDB servers, which can be killed, and whose replication can be stopped."""
    with replica_set(tmp_path_factory.mktemp("members"), can_fail=True) as members:
        yield members


@pytest.fixture(scope="module")
def own(members: ReplicaSet) -> Iterator[dict[str, str]]:
    """Settings that name a database of the file's own there."""
    with own_database(members.uri) as own:
        yield own

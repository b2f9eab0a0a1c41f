"""`waylink upgrade --check`: what a start of this version does with the stored data, and whether it can."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from tests.processes.service_process import environment_of, invoke, own_database, run_command


@pytest.fixture
def installation(mongodb_uri: str) -> Iterator[dict[str, str]]:
    """Settings of a database for this test only."""
    with own_database(mongodb_uri) as installation:
        yield installation


@contextmanager
def mongodb(installation: dict[str, str]) -> Iterator[Database[dict[str, Any]]]:
    """The database itself."""
    with MongoClient[dict[str, Any]](installation["WAYLINK_MONGODB_URI"]) as client:
        yield client[installation["WAYLINK_MONGODB_DATABASE"]]


def test_nothing_to_do(installation: dict[str, str], tmp_path: Path) -> None:
    """Data of this version needs nothing, and the code is 0; without --check it says how to upgrade."""
    environment = environment_of(tmp_path, **installation)
    run_command("organization", "create", "Acme", environment=environment)
    done = invoke("upgrade", "--check", environment=environment)
    assert (done.exit_code, "there is nothing to do" in done.stdout) == (0, True)
    assert "To upgrade, start the service" in invoke("upgrade", environment=environment).stderr


def test_what_will_be_done(installation: dict[str, str], tmp_path: Path) -> None:
    """It names the indexes to make, changes nothing, and ends with code 3."""
    environment = environment_of(tmp_path, **installation)
    run_command("organization", "create", "Acme", environment=environment)
    with mongodb(installation) as database:
        database["links"].drop_index("org_id_1_modified_at_1__id_1")
        done = invoke("upgrade", "--check", environment=environment)
        assert "org_id_1_modified_at_1__id_1" not in database["links"].index_information()
    assert done.exit_code == 3, done.stderr
    rows = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert "make the index links.org_id_1_modified_at_1__id_1 0" in rows


def test_an_index_that_is_another_one(installation: dict[str, str], tmp_path: Path) -> None:
    """It is named, with what to do, and the code is 4: the service would not start."""
    environment = environment_of(tmp_path, **installation)
    run_command("organization", "create", "Acme", environment=environment)
    with mongodb(installation) as database:
        database["users"].drop_indexes()
        database["users"].create_index([("email", 1), ("managed_by", 1)])
    done = invoke("upgrade", "--check", environment=environment)
    assert done.exit_code == 4
    assert "The index users.email_1_managed_by_1 is not as declared: drop it" in done.stdout

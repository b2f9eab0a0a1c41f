"""What version 0.1 stored, under this version; and back again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from tests.polling import wait_for
from tests.service_process import (
    ServiceProcess,
    environment_of,
    invoke,
    own_database,
    run_command,
    service_process,
)
from tests.upgrade.former_code import (
    ALL_CLICKS,
    CLICKS,
    COMMAND,
    DOMAIN,
    FormerOrganization,
    check_out,
    store,
)

API = "/serviceCore/pa/v1"
DESKTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture
def own(mongodb_uri: str) -> Iterator[dict[str, str]]:
    """Settings of a database for this test only, which the present version has not been at."""
    with own_database(mongodb_uri, is_new=True) as own:
        yield own


@pytest.fixture
def former(own: dict[str, str]) -> FormerOrganization:
    """The organization that the former version has stored there."""
    return store(own["WAYLINK_MONGODB_URI"], own["WAYLINK_MONGODB_DATABASE"])


def counts(service: ServiceProcess, former: FormerOrganization, path: str) -> list[int]:
    """The clicks of a link in all, and in the last seven days, as the API says."""
    answer = once_answered(
        lambda: httpx.post(
            f"{service.base_url}{API}/analytics",
            headers={"API-KEY": former.rest_key},
            json={"shortUrl": f"http://{DOMAIN}/{path}"},
            timeout=30,
        )
    )
    assert answer.status_code == httpx.codes.OK, answer.text
    found = answer.json()
    return [found["total_clicks"], found["clicks_last_7_days"]]


def once_answered(ask: Callable[[], httpx.Response]) -> httpx.Response:
    """The first answer that is not 503: a service on a busy machine asks for patience now and then."""
    return wait_for(
        ask, "it is 503", lambda answer: answer.status_code != httpx.codes.SERVICE_UNAVAILABLE, seconds=60
    )


def totals(service: ServiceProcess, former: FormerOrganization) -> list[int]:
    """The clicks of each link."""
    return [counts(service, former, f"k{number}")[0] for number in range(len(CLICKS))]


def click(service: ServiceProcess, former: FormerOrganization) -> None:
    """A visitor follows the first link, and the service counts that once."""
    before = counts(service, former, "k0")
    assert follow(service) == 302
    wait_for(
        lambda: counts(service, former, "k0"),
        "the click counts",
        lambda seen: seen == [each + 1 for each in before],
    )


def follow(service: ServiceProcess) -> int:
    """The status that a visitor of the first link gets."""
    headers = {"host": DOMAIN, "user-agent": DESKTOP}
    visit = once_answered(lambda: httpx.get(f"{service.base_url}/k0", headers=headers, timeout=30))
    return visit.status_code


def former_clicks(own: dict[str, str]) -> int:
    """How many clicks are still stored as the former version does."""
    with MongoClient[dict[str, Any]](own["WAYLINK_MONGODB_URI"]) as client:
        return client[own["WAYLINK_MONGODB_DATABASE"]]["clicks"].count_documents({})


def former_devices(own: dict[str, str]) -> int:
    """How many devices are still as the former version stored them."""
    with MongoClient[dict[str, Any]](own["WAYLINK_MONGODB_URI"]) as client:
        devices = client[own["WAYLINK_MONGODB_DATABASE"]]["devices"]
        return devices.count_documents({"direct_visits": {"$exists": False}})


def test_a_check_says_what_will_be_done(
    own: dict[str, str], former: FormerOrganization, tmp_path: Path
) -> None:
    """It names indexes to make and clicks to move, changes nothing, and ends with code 3."""
    environment = environment_of(tmp_path, **own)
    with MongoClient[dict[str, Any]](own["WAYLINK_MONGODB_URI"]) as client:
        database = client[own["WAYLINK_MONGODB_DATABASE"]]
        before = {name: database[name].index_information() for name in database.list_collection_names()}
        done = invoke("upgrade", "--check", environment=environment)
        after = {name: database[name].index_information() for name in database.list_collection_names()}
    assert done.exit_code == 3, done.stderr
    rows = {" ".join(line.split()) for line in done.stdout.splitlines()}
    assert f"move single clicks into blocks {ALL_CLICKS} beside visitors" in rows
    assert "complete the touches of devices 1 beside visitors" in rows
    assert "make the index links.org_id_1_modified_at_1__id_1 3 before it answers" in rows
    assert any(row.startswith("write into the counts of days which day they are 3 before") for row in rows)
    assert before == after
    assert "To upgrade, start the service" in invoke("upgrade", environment=environment).stderr


def test_an_index_that_is_another_one_stops_it(
    own: dict[str, str], former: FormerOrganization, tmp_path: Path
) -> None:
    """It is named, with what to do, and the code is 4."""
    with MongoClient[dict[str, Any]](own["WAYLINK_MONGODB_URI"]) as client:
        users = client[own["WAYLINK_MONGODB_DATABASE"]]["users"]
        users.drop_indexes()
        users.create_index("email")
    done = invoke("upgrade", "--check", environment=environment_of(tmp_path, **own))
    assert done.exit_code == 4
    assert "The index users.email_1 is not as declared: drop it" in done.stdout


def test_there_and_back(own: dict[str, str], former: FormerOrganization, tmp_path: Path) -> None:
    """This version goes on with all of it; the former one goes on after it, and this one after that.

    Links lead on, keys and the user are taken, and every click counts once, whichever version counted it.
    """
    (code := tmp_path / "former").mkdir()
    environment = environment_of(tmp_path / "data", **own)
    with service_process(tmp_path / "data", **own) as service:
        assert totals(service, former) == CLICKS
        click(service, former)
        wait_for(lambda: former_clicks(own), "clicks are moved into blocks", lambda left: left == 0)
        wait_for(lambda: former_devices(own), "devices are completed", lambda left: left == 0)
        assert totals(service, former) == [CLICKS[0] + 1, *CLICKS[1:]]
        asked = ("--measures", "revenue", "--currency", "EUR", "--from", "2026-01-01")
        sold = run_command("report", "analytics", "--org", former.org_id, *asked, environment=environment)
        assert sold["totals"] == {"revenue": "59.90"}
        [user] = run_command("user", "list", environment=environment)["users"]
        assert user["email"] == "ada@kites.example"
    done = invoke("upgrade", "--check", environment=environment)
    assert done.exit_code == 0, done.stdout
    assert f"{ALL_CLICKS + 1} single clicks that are in blocks" in done.stdout
    with service_process(tmp_path / "data", COMMAND, **own, **check_out(code)) as service:
        assert totals(service, former) == [CLICKS[0] + 1, *CLICKS[1:]]
        click(service, former)
        assert former_clicks(own) == 1  # so it is the former version that has run
    with service_process(tmp_path / "data", **own) as service:
        wait_for(lambda: former_clicks(own), "the click is moved too", lambda left: left == 0)
        assert totals(service, former) == [CLICKS[0] + 2, *CLICKS[1:]]
        click(service, former)

"""MongoDB answers reads too late for visitors, or tells of no changes: what is known to have changed is not
shown as it was, and what nothing was heard of is."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import MongoClient

from tests.api.link_calls import API
from tests.faults.links import DOMAIN, follow, new_limited_link, new_link
from tests.polling import wait_for
from tests.processes.replica_set import ReplicaSet
from tests.processes.service_process import ServiceProcess, own_database, service_process

# Longer than visitors wait for a link.
SECONDS = 1.2
VISITS = 40
FAR_AWAY = "86399"  # a time to live that ends long after the test
Tell = Callable[[str], None]


@pytest.fixture
def members(server: ReplicaSet) -> Iterator[ReplicaSet]:
    """A MongoDB that is as fast as it is until a test says otherwise."""
    yield server
    server.fail_commands()


@pytest.fixture
def own(members: ReplicaSet) -> Iterator[dict[str, str]]:
    """Settings that name a database of the test's own there."""
    with own_database(members.uri) as own:
        yield own


@contextmanager
def other_host(own: dict[str, str]) -> Iterator[Any]:
    """The links, as another host changes them, whose reads are not slow."""
    with MongoClient[dict[str, Any]](own["WAYLINK_MONGODB_URI"]) as client:
        yield client[own["WAYLINK_MONGODB_DATABASE"]]["links"]


def visited(service: ServiceProcess, path: str) -> list[int]:
    """What visitors get."""
    with ThreadPoolExecutor(VISITS) as visitors:
        return [*visitors.map(lambda _: follow(service, path), range(VISITS))]


def wait_until(service: ServiceProcess, path: str, status: int) -> None:
    """Visit until visitors get this, which is soon."""
    wait_for(lambda: follow(service, path), "it is as it was", lambda seen: seen == status, seconds=8)


def test_links_changed_elsewhere_are_not_shown_as_they_were(
    members: ReplicaSet, own: dict[str, str], tmp_path: Path, tell: Tell
) -> None:
    """One that another host disabled shows the error page, without a read; one that it deleted is 503; others
    redirect."""
    with service_process(tmp_path / "data", **own) as service:
        made = new_link(service)
        disabled, other = made["path"], new_limited_link(service, made["key"])
        deleted = new_limited_link(service, made["key"])
        paths = (disabled, deleted, other)
        assert [follow(service, path) for path in paths] == [302] * 3
        members.delay_commands("find", seconds=SECONDS)
        with other_host(own) as links:
            links.update_one({"path": disabled[1:]}, {"$set": {"is_enabled": False}})
            links.delete_one({"path": deleted[1:]})
        wait_until(service, disabled, 404)
        wait_until(service, deleted, 503)
        seen = [visited(service, path) for path in (disabled, deleted)]
        unchanged = [statuses.count(302) for statuses in seen]
        tell(f"reads of {SECONDS} s: of {VISITS} visits each {unchanged} as it was")
        assert seen == [[404] * VISITS, [503] * VISITS]
        assert visited(service, other) == [302] * VISITS
        members.fail_commands()
        wait_until(service, deleted, 404)


def test_a_restart_brings_nothing_back(
    members: ReplicaSet, own: dict[str, str], tmp_path: Path, tell: Tell
) -> None:
    """The file of links is older than a change: a service that starts with it learns of the change, without a
    read, and shows what did not change."""
    with service_process(tmp_path / "data", **own) as before:
        made = new_link(before)
        disabled, other = made["path"], new_limited_link(before, made["key"])
        wait_for((tmp_path / "data" / "links.cache").exists, "changes are not followed")
        assert [follow(before, path) for path in (disabled, other)] == [302, 302]
        before.stop(signal.SIGTERM)
    with other_host(own) as links:
        links.update_one({"path": disabled[1:]}, {"$set": {"is_enabled": False}})
    members.delay_commands("find", seconds=SECONDS)
    with service_process(tmp_path / "data", **own) as service:
        wait_until(service, disabled, 404)
        seen = visited(service, disabled)
        tell(f"after a restart, reads of {SECONDS} s: of {VISITS} visits {seen.count(302)} as it was")
        assert seen == [404] * VISITS
        assert visited(service, other) == [302] * VISITS


def test_without_a_change_stream_the_time_to_live_decides(
    members: ReplicaSet, own: dict[str, str], tmp_path: Path
) -> None:
    """Where the server refuses change streams, a process reads the link again when its time to live is over;
    one whose time to live is a day still leads to the old destination then."""
    members.fail_commands("aggregate", "getMore")
    with (
        service_process(tmp_path / "short", **own, WAYLINK_LINK_CACHE_SECONDS="1") as short,
        service_process(tmp_path / "long", **own, WAYLINK_LINK_CACHE_SECONDS=FAR_AWAY) as long,
    ):
        link = new_link(short)
        old, new = "https://shop.example", "https://shop.example/new"
        assert [destination(service, link["path"]) for service in (short, long)] == [old] * 2
        change(short, link, destination_url=new)
        wait_for(lambda: destination(short, link["path"]), "it is not seen", lambda seen: seen == new)
        assert destination(long, link["path"]) == old


def destination(service: ServiceProcess, path: str) -> str:
    """Where a visitor is led, without the query."""
    answer = httpx.get(f"{service.base_url}{path}", headers={"host": DOMAIN}, timeout=60)
    return str(answer.headers["location"]).partition("?")[0]


def change(service: ServiceProcess, link: dict[str, str], **fields: str) -> None:
    """Change the link over the REST API."""
    api, headers = f"{service.base_url}{API}", {"API-KEY": link["key"]}
    told = httpx.post(f"{api}/links/info", json={"shortUrl": link["short_url"]}, headers=headers, timeout=60)
    answer = httpx.patch(f"{api}/update-link/{told.json()['id']}", json=fields, headers=headers, timeout=60)
    assert answer.status_code == 200, answer.text

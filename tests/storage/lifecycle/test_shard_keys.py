"""What a sharded cluster asks of collections, indexes and queries. Waylink was not run on one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pymongo import monitoring

from backend.app import Service, create_app
from backend.archives.export import export_organization
from backend.doctor.storage import examine_cluster
from backend.domain.finding import Severity
from backend.domain.ids import CustomerId
from backend.domain.visitors.persons import Subject
from backend.settings import Settings
from backend.storage.accounts.organizations import set_click_days, set_requires_single_sign_on
from backend.storage.clicks.merges import merge_small_blocks
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import declared_shard_keys
from backend.storage.lifecycle.organization_deletion import delete_organization
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.lifecycle.retention import set_retention
from backend.storage.lifecycle.shard_keys import (
    OtherShardKey,
    find_other_shard_keys,
    is_targeted,
    unique_indexes_against,
)
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.archives.full_organization import fill
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization, create_test_organization
from tests.polling import wait_for_async
from tests.processes.service_process import own_database

SHARD_KEYS = declared_shard_keys()
OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
# Queries of sharded collections that may ask all shards, by the fields that they name.
ASK_ALL: dict[tuple[str, ...], str] = {
    ("click_blocks", "_id"): "an export, and a block that can't be read",
    ("click_summaries", "_id"): "an export",
    ("ledger_statements", "_id"): "an export",
    ("feed_entries", "waits"): "what waits for its place, of all organizations: twenty times a second",
    ("feed_entries", "_id"): "an export",
    **{
        (name, *fields): "a page, a report, an export, or the person or the time that data is kept for"
        for name in ("contacts", "devices", "events", "installs", "leads")
        for fields in (("org_id",), ("$or", "org_id"))
    },
    ("devices", "customers.customer_id", "org_id"): "a person's data, to export or to erase it",
    ("devices", "customers", "customers.customer_id", "org_id"): "a customer's page, and an explanation",
    ("contacts", "customer_id", "org_id"): "a person's data, to export or to erase it",
    ("contacts", "device_id", "org_id"): "the same",
    ("contacts", "emails_sha256", "org_id"): "the same",
    ("contacts", "customer_id", "device_id", "org_id"): "the same",
    ("contacts", "customer_id", "emails_by_servers", "org_id"): "the same",
    ("leads", "customer_id", "device_id", "email_sha256", "org_id"): "the same",
    ("leads", "customer_id", "email_sha256", "org_id"): "the same",
    ("leads", "at", "org_id"): "a page",
    ("leads", "org_id", "tellings.customer_id"): "a person's data, to erase it",
    ("leads", "org_id", "tellings.device_id"): "the same",
    ("leads", "at", "org_id", "touch.link_id"): "a page of some links",
    ("installs", "link_id", "org_id"): "a link that is deleted for good",
    ("counted_once", "org_id"): "an organization that is exported or deleted",
    ("install_counts", "org_id"): "an organization that is deleted",
}


def test_the_documentation_has_the_keys() -> None:
    """The table of docs/operations.md names each sharded collection with its key, and no other."""
    rows = re.findall(r"^\| (`.+?) \| `(\{.+?\})` \|", OPERATIONS.read_text(), re.MULTILINE)
    documented = {name: key for names, key in rows for name in re.findall(r"`(\w+)`", names)}
    assert documented == {
        name: re.sub(r'"(\w+)":', r"\1:", json.dumps(key)) for name, key in SHARD_KEYS.items()
    }


@pytest.mark.parametrize("collection", sorted(SHARD_KEYS))
def test_unique_indexes_begin_with_the_key(collection: str) -> None:
    """A cluster refuses other ones: it could not know of a document on another shard."""
    assert unique_indexes_against(SHARD_KEYS[collection], collection) == []


def test_why_links_and_conversions_stay_whole() -> None:
    """Each has two rules of uniqueness, or one, that its ids can't carry: no key is the beginning of all."""
    assert unique_indexes_against({"_id": 1}, "conversions") == ["org_id_1_transaction_id_1"]
    assert unique_indexes_against({"domain": 1, "path": 1}, "links") == ["org_id_1_external_id_1"]
    assert not {"links", "conversions"} & SHARD_KEYS.keys()


@pytest.mark.parametrize(
    ("key", "condition", "targeted"),
    [
        ({"_id": 1}, {"_id": "a"}, True),
        ({"_id": 1}, {"_id": {"$regex": "^a/"}}, True),
        ({"_id": 1}, {"_id": {"$regex": "a"}}, False),
        ({"_id": 1}, {"_id": {"$in": ["a"]}, "org_id": "o"}, True),
        ({"_id": 1}, {"_id": {"$ne": "a"}}, False),
        ({"_id": 1}, {"org_id": "o"}, False),
        ({"_id": 1}, {"$or": [{"_id": "a"}, {"_id": "b"}]}, True),
        ({"_id": 1}, {"$or": [{"_id": "a"}, {"b": 1}]}, False),
        ({"_id": 1}, {"$and": [{"b": 1}, {"_id": "a"}]}, True),
        ({"_id": "hashed"}, {"_id": {"$gt": "a"}}, False),
        ({"_id": "hashed"}, {"_id": {"$in": ["a"]}}, True),
        ({"org_id": 1, "_id": 1}, {"_id": "a"}, False),
        ({"org_id": 1, "_id": 1}, {"org_id": {"$in": ["o"]}}, True),
    ],
)
def test_which_queries_name_their_shards(
    key: dict[str, int | str], condition: dict[str, Any], targeted: bool
) -> None:
    """Those that say something of the key's first field: a value, some, a range, or how it begins."""
    assert is_targeted(key, condition) is targeted


class Seen(monitoring.CommandListener):
    """The queries that the driver sends to a database, by collection."""

    def __init__(self, database: str) -> None:
        self.queries: list[tuple[str, dict[str, Any]]] = []
        self._database = database

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        """Note the conditions of a command."""
        name = str(event.command.get(event.command_name))
        if event.database_name != self._database:
            return
        command = event.command
        match event.command_name:
            case "find":
                conditions = [command.get("filter", {})]
            case "count" | "distinct" | "findAndModify":
                conditions = [command.get("query", {})]
            case "update" | "delete":
                conditions = [operation["q"] for operation in command[f"{event.command_name}s"]]
            case "aggregate":
                conditions = [command["pipeline"][0].get("$match", {})]
            case _:
                conditions = []
        self.queries += [(name, dict(condition)) for condition in conditions]

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        """Not of interest."""

    def failed(self, event: monitoring.CommandFailedEvent) -> None:
        """Not of interest."""


@contextmanager
def listening(database: str) -> Iterator[Seen]:
    """What clients that are made in the block send to this database."""
    seen = Seen(database)
    monitoring.register(seen)
    try:
        yield seen
    finally:
        monitoring._LISTENERS.command_listeners.remove(seen)


async def shipped(database: Database) -> int:
    """How many click logs are known to the database: that of `fill`, and that of the service."""
    return await database["click_logs"].count_documents({})


async def use_everything(service: Service, database: Database, tmp_path: Path) -> TestOrganization:
    """Let the service and its commands do what they do in a life of an organization."""
    organization = await create_test_organization(database)
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        link_ids = await fill(client, database, organization)
        headers = organization.headers
        listed = (await client.get(f"{API}/links?sort=-clicks_30", headers=headers)).json()["links"]
        is_open = {link["id"]: link["state"] == "enabled" and not link["has_password"] for link in listed}
        listed = [link for link in listed if is_open[link["id"]]]
        path = listed[0]["short_url"].rpartition("/")[2]
        assert (await client.get(f"/{path}", headers={"host": organization.domain})).status_code == 302
        await wait_for_async(lambda: shipped(database), "the click is shipped", lambda logs: logs > 1)
        short_url = {"shortUrl": listed[0]["short_url"]}
        for name in ("analytics", "install-analytics"):
            await client.post(f"{API}/{name}", json=short_url, headers=headers)
        asked = {"measures": ["clicks"], "group_by": ["link"], "from": "2026-01-01", "to": "2099-01-01"}
        await client.post(f"{API}/analytics/query", json=asked, headers=headers)
        exported = f"{API}/clicks/export?from=2026-01-01&format=csv"
        assert (await client.get(exported, headers=headers)).status_code == 200
        assert (await client.get("/metrics", headers={"host": "localhost"})).status_code in {200, 404}
    async with browser(service) as pages:
        person = Person(pages, await make_user(database, organization.id))
        await set_requires_single_sign_on(database, organization.id, is_on=False)
        await open_session(database, person)
        for page in ("/", "/links", f"/links/{link_ids[0]}", "/attribution", "/install", "/domains", "/keys"):
            assert (await person.get(page)).status_code == 200, page
    await merge_small_blocks(database, organization.id)
    await set_click_days(database, organization.id, 100)
    await set_retention(database, organization.id, 100)
    await export_organization(database, organization.id, tmp_path / "archive", lambda *_: None)
    subject = Subject(customer_id=CustomerId("ada"))
    assert [exported async for exported in export_subject(database, organization.id, subject)]
    await erase_subject(database, organization.id, subject)
    return organization


async def test_queries_name_their_shards(mongodb_uri: str, settings: Settings, tmp_path: Path) -> None:
    """Each query carries its collection's key, or stands on the list of those that may ask all shards."""
    with own_database(mongodb_uri) as own, listening(name := own["WAYLINK_MONGODB_DATABASE"]) as seen:
        own_settings = replace(settings, mongodb_database=name, data_dir=tmp_path / "data")
        service = create_app(own_settings, utc_now)
        await service.startup()
        database = service.resources.database
        organization = await use_everything(service, database, tmp_path)
        await delete_organization(database, organization.id, utc_now())
        await service.shutdown()
    met = {name for name, _ in seen.queries}
    assert SHARD_KEYS.keys() - met == set()
    untargeted = {
        (name, *sorted(condition))
        for name, condition in seen.queries
        if name in SHARD_KEYS and not is_targeted(SHARD_KEYS[name], condition)
    }
    assert untargeted - ASK_ALL.keys() == set()


async def test_the_keys_of_a_cluster_are_compared(database: Database) -> None:
    """Where a cluster has a collection under another key, or one that should stay whole, that is found."""
    config = database.client["config"]["collections"]
    sharded = [
        ("events", {"_id": 1}),
        ("calls", {"_id": "hashed"}),
        ("links", {"domain": 1, "path": 1}),
    ]
    ids = [f"{database.name}.{name}" for name, _ in sharded]
    await config.insert_many(
        [{"_id": own_id, "key": key} for own_id, (_, key) in zip(ids, sharded, strict=True)]
    )
    try:
        assert await find_other_shard_keys(database) == [
            OtherShardKey("calls", {"_id": "hashed"}, {"_id": 1}),
            OtherShardKey("links", {"domain": 1, "path": 1}, None),
        ]
        messages = {finding.subject: finding.message async for finding in examine_cluster(database)}
        assert messages == {
            "calls": "It is sharded by {'_id': 'hashed'}, and made to be by {'_id': 1}.",
            "links": "It is sharded by {'domain': 1, 'path': 1}, and made to stay whole.",
        }
    finally:
        await config.delete_many({"_id": {"$in": ids}})
    [right] = [finding async for finding in examine_cluster(database)]
    assert right.severity is Severity.OK

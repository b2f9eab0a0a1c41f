"""What becomes of links, in a feed."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.feed.cursor import START
from backend.domain.feed.events import Event, EventType
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.input import NEW_LINK_FIELDS, parse_new_link
from backend.domain.links.links import CreatedBy
from backend.domain.links.operations import ChangeLink, CreateLink, LinkRequest
from backend.domain.web.short_urls import ShortUrlForm
from backend.imports.link_csv import read_rows
from backend.imports.link_import import LinkImport
from backend.imports.row import ImportRow
from backend.settings import Settings
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database, Document
from backend.storage.feed.reading import read_feed
from backend.storage.lifecycle.purge import delete_links
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.holds import NotHeld, hold_link, release_link
from backend.storage.links.writing.service_changes import mark_used_up
from backend.storage.links.writing.writes import Submission, store_link, write_links
from backend.storage.outbox import entries
from backend.system.clock import utc_now
from tests.api.link_calls import API, link_body
from tests.api.links.test_rules import GERMAN, rule
from tests.api.whole_links import Links
from tests.conftest import MovableClock
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all, read_all
from tests.facts.organizations import TestOrganization
from tests.facts.replayed_links import replayed, stored

LINK_TYPES = (EventType.LINK_CREATED, EventType.LINK_CHANGED, EventType.LINK_ARCHIVED)
CREATED, CHANGED, ARCHIVED = "link.created", "link.changed", "link.archived"
SWITCHED = ["is_enabled", "state"]
ON_ARCHIVING = ["archived_at", "is_archived", "is_enabled", "state"]
# What answers of the REST API say of a link that is counted, and is no part of the link.
COUNTED = {"clicks", "clicks_left"}


@pytest.fixture
def links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The links of this test's organization."""
    return Links(client, organization)


class FeedNews:
    """What the organization's feed has told of links."""

    def __init__(self, database: Database, org_id: OrgId) -> None:
        self._database = database
        self._org_id = org_id
        self._read = 0

    async def events(self) -> list[Event]:
        """All events."""
        return await read_all(self._database, self._org_id, LINK_TYPES)

    async def news(self) -> list[tuple[str, list[str]]]:
        """Type and changed fields of each event since the last call."""
        events = await self.events()
        new, self._read = events[self._read :], len(events)
        return [(event.type.value, event.data["changed"]) for event in new]


@pytest.fixture
def feed(database: Database, organization: TestOrganization) -> FeedNews:
    """What the feed of this test's organization has told."""
    return FeedNews(database, organization.id)


class Stopped(Exception):
    """What carries out an operation is stopped."""


@dataclass
class History:
    """Changes of links in every way; each step sees what it told."""

    links: Links
    feed: FeedNews
    database: Database

    async def _call(self, method: str, path: str, body: object = None) -> list[tuple[str, list[str]]]:
        """What a request tells."""
        headers = self.links.organization.headers
        answer = await self.links.client.request(method, API + path, json=body, headers=headers)
        assert answer.is_success, answer.text
        return await self.feed.news()

    async def of_one_link(self) -> None:
        """One link, from its creation to the archive and back."""

        async def patch(**fields: Any) -> list[tuple[str, list[str]]]:
            return await self._call("PATCH", f"/links/{link_id}", fields)

        body = link_body(self.links.organization, selected_path="first", custom_data={"a": 1})
        assert await self._call("POST", "/create-link", body) == [(CREATED, [])]
        link_id = LinkId((await self.links.list())[0]["id"])
        update = {"link_name": "Other"}
        assert await self._call("PATCH", f"/update-link/{link_id}", update) == [(CHANGED, ["link_name"])]
        off = {"is_enabled": False}
        assert await self._call("PATCH", f"/links/change-status/{link_id}", off) == [(CHANGED, SWITCHED)]
        assert await patch(is_enabled=True) == [(CHANGED, SWITCHED)]
        several = {"utm_source": "mail", "custom_data": {"a": 1.0}, "expired_url": "https://o.example/"}
        assert await patch(tags=["Shoes"], **several) == [(CHANGED, sorted(["tags", *several]))]
        for password in ("kites", "ropes", None):
            assert await patch(password=password) == [(CHANGED, ["has_password"])]
        assert await patch(max_clicks=1) == [(CHANGED, ["max_clicks"])]
        await self._held(link_id)
        await mark_used_up(self.database, self.links.organization.id, link_id, 1, utc_now())
        assert await self.feed.news() == [(CHANGED, ["state"])]
        assert await patch(max_clicks=None) == [(CHANGED, ["max_clicks", "state"])]
        assert await patch(rules=[GERMAN]) == [(CHANGED, ["rules"])]
        assert await self._call("DELETE", f"/links/{link_id}") == [(ARCHIVED, ON_ARCHIVING)]
        assert await patch(link_name="Third") == [(CHANGED, ["link_name"])]
        assert await patch(is_archived=False) == [(CHANGED, ON_ARCHIVING)]
        renamed = sorted([*ON_ARCHIVING, "link_name"])
        assert await patch(is_archived=True, link_name="Fourth") == [(ARCHIVED, renamed)]

    async def _held(self, link_id: LinkId) -> None:
        await hold_link(self.database, link_id, "phishing", utc_now())
        assert await self.feed.news() == [(CHANGED, ["hold", "state"])]
        await hold_link(self.database, link_id, "malware", utc_now())
        assert await self.feed.news() == [(CHANGED, ["hold"])]
        await release_link(self.database, link_id, utc_now())
        assert await self.feed.news() == [(CHANGED, ["hold", "state"])]

    async def of_several_links(self) -> None:
        """Upserts, a copy and a bulk, and links that are deleted for good."""

        def body(**fields: Any) -> dict[str, Any]:
            return link_body(self.links.organization, **fields)

        once = body(external_id="sku", password="kites", max_clicks=3)
        assert await self._call("POST", "/links", once) == [(CREATED, [])]
        again = body(external_id="sku", utm_term="x")
        assert await self._call("POST", "/links", again) == [(CHANGED, ["utm_term"])]
        link_id = (await self.links.list())[0]["id"]
        copy = {"link_name": "Copy"}
        assert await self._call("POST", f"/links/{link_id}/duplicate", copy) == [(CREATED, [])]
        operations: list[dict[str, Any]] = [
            {"op": "create", "link": body(selected_path="bulk", external_id="bulk")},
            {"op": "upsert", "link": body(external_id="bulk", tags=["Hats"])},
            {"op": "create", "link": body(selected_path="bulk")},
            {"op": "update", "id": link_id, "link": {"ios_behavior": 2}},
            {"op": "archive", "id": link_id},
        ]
        bulk = [(CREATED, []), (CHANGED, ["tags"]), (CHANGED, ["ios_behavior"]), (ARCHIVED, ON_ARCHIVING)]
        assert await self._call("POST", "/links/bulk", {"operations": operations}) == bulk
        assert await self._call("DELETE", f"/links/{link_id}?purge=true") == [(ARCHIVED, [])]
        link_id = (await self.links.make())["id"]
        assert await self.feed.news() == [(CREATED, [])]
        purged = await self._call("DELETE", f"/links/{link_id}?purge=true")
        assert purged == [(ARCHIVED, ON_ARCHIVING), (ARCHIVED, [])]
        first, last = (await self.feed.events())[-2:]
        assert (first.data["purged"], last.data["purged"], last.data["link"]["id"]) == (False, True, link_id)

    async def of_a_file(self, folder: Path) -> None:
        """An import, twice."""
        org_id, domain = self.links.organization.id, self.links.organization.domain
        rows = _rows(folder, f'{domain},imported,https://a.example/,A,"New, Hats"')
        for expected in (1, 0):
            link_import = LinkImport(self.database, org_id, utc_now(), dry_run=False)
            await link_import.run(rows, lambda _: None)
            assert await self.feed.news() == [(CREATED, [])] * expected

    async def tags_before(self) -> None:
        """Tags for the links."""
        for name in ("Shoes", "Hats"):
            assert await self._call("POST", "/tags", {"name": name}) == []

    async def tags_behind(self) -> None:
        """Of the tags, one gets another name and one goes."""
        assert await self._call("PATCH", "/tags/Hats", {"name": "Caps"}) == []
        assert await self._call("DELETE", "/tags/Shoes") == []


def _rows(folder: Path, row: str) -> list[ImportRow]:
    file = folder / "links.csv"
    file.write_text(f"domain,selected_path,destination_url,link_name,tags\n{row}\n")
    return read_rows(file)


async def test_each_change_is_told_once(
    links: Links, feed: FeedNews, database: Database, organization: TestOrganization, tmp_path: Path
) -> None:
    """Whoever replays the events has what the REST API answers, and the facts behind them what is stored."""
    history = History(links, feed, database)
    await history.tags_before()
    await history.of_one_link()
    await history.of_several_links()
    await history.of_a_file(tmp_path)
    await history.tags_behind()
    links_by_id: dict[str, Document] = {}
    for event in await feed.events():
        assert event.org_id == organization.id
        if event.data.get("purged"):
            del links_by_id[event.data["link"]["id"]]
        else:
            links_by_id[event.data["link"]["id"]] = event.data["link"]
    answered = [*await links.list(), *await links.list("state=archived")]
    assert links_by_id == {
        link["id"]: {name: value for name, value in link.items() if name not in COUNTED} for link in answered
    }
    assert len(links_by_id) == 4
    assert await replayed(database, organization.id) == await stored(database, organization.id)


async def test_what_changes_nothing_tells_nothing(links: Links, feed: FeedNews, database: Database) -> None:
    """Neither rejected operations, nor changes of nothing, nor repeats are in the feed."""
    made = await links.make(selected_path="taken", utm_source="mail", external_id="sku", is_enabled=False)
    key = {"Idempotency-Key": "a-key-of-a-program"}
    once = await links.post(headers=key, selected_path="once")
    await links.call("DELETE", f"/{(archived := await links.make())['id']}")
    assert [type_ for type_, _ in await feed.news()] == [CREATED, CREATED, CREATED, ARCHIVED]
    link, body = f"/{made['id']}", {"destination_url": f"https://{links.organization.domain}/taken"}
    unknown = {"op": "archive", "id": str(uuid.uuid4())}
    answers = [
        await links.post(selected_path="taken"),
        await links.post(domain="go.others.localhost"),
        await links.post(external_id="sku", selected_path="another"),
        await links.call("PATCH", link, body),
        await links.call("PATCH", link, {"utm_source": "mail", "link_name": made["link_name"]}),
        await links.post(external_id="sku"),
        await links.post(headers=key, selected_path="once"),
        await links.call("DELETE", f"/{archived['id']}"),
        await links.call("DELETE", f"/{uuid.uuid4()}?purge=true"),
        await links.call("POST", "/bulk", {"operations": [unknown]}),
    ]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 400, 200, 200, 201, 204, 404, 200]
    assert answers[6].text == once.text
    with pytest.raises(NotHeld):
        await release_link(database, LinkId(made["id"]), utc_now())
    await mark_used_up(database, links.organization.id, LinkId(made["id"]), 5, utc_now())
    assert await feed.news() == []


async def test_what_is_not_stored_is_not_told(
    links: Links, feed: FeedNews, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who stops between the note and the end of the transaction has stored and told nothing."""
    made = await links.make()
    assert await feed.news() == [(CREATED, [])]
    noted: list[object] = []

    async def note(*arguments: Any, **options: Any) -> None:
        await entries_note(*arguments, **options)
        noted.append(arguments)
        raise Stopped

    def note_blocking(*arguments: Any, **options: Any) -> None:
        entries_note_blocking(*arguments, **options)
        noted.append(arguments)
        raise Stopped

    entries_note, entries_note_blocking = entries.note, entries.note_blocking
    monkeypatch.setattr(entries, "note", note)
    monkeypatch.setattr(entries, "note_blocking", note_blocking)
    policies = DestinationPolicies(database)
    for operation in (
        CreateLink(parse_new_link(link_body(links.organization))),
        ChangeLink(LinkId(made["id"]), {"link_name": "Other"}),
    ):
        request = LinkRequest(links.organization.id, CreatedBy.REST, utc_now(), operation)
        with pytest.raises(Stopped):
            await store_link(database, request, policies)
    with pytest.raises(Stopped):
        await hold_link(database, LinkId(made["id"]), "phishing", utc_now())
    with pytest.raises(Stopped):
        await delete_links(database, {"_id": made["id"]}, utc_now())
    assert len(noted) == 4
    monkeypatch.undo()
    assert await feed.news() == []
    assert await links.list() == [made]


async def test_one_path_wanted_at_once(links: Links, feed: FeedNews) -> None:
    """Of twenty requests for one path one makes the link, and the feed tells of it once."""
    answers = await asyncio.gather(*(links.post(selected_path="one") for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [201, *[400] * 19]
    assert await feed.news() == [(CREATED, [])]


async def test_clicks_that_are_used_up(links: Links, feed: FeedNews) -> None:
    """A visitor who takes the last click of a link changes the link, which the feed tells once."""
    made = await links.make(max_clicks=1)
    assert [await links.visit(made["path"]) for _ in range(3)] == [302, 404, 404]
    assert await feed.news() == [(CREATED, []), (CHANGED, ["state"])]
    *_, last = await feed.events()
    assert last.data["link"]["state"] == "expired"


async def test_no_password_is_told(links: Links, feed: FeedNews, database: Database) -> None:
    """A fact has no hash of a password, and says only that there is one."""
    made = await links.make(password="kites & ropes")
    await links.call("PATCH", f"/{made['id']}", {"link_name": "Other"})
    await feed.news()
    of_links = {"org_id": links.organization.id, "ages_by": None}
    stored_entries = [entry async for entry in database[entries.NAME].find(of_links)]
    assert len(stored_entries) == 2
    assert "argon2" not in str(stored_entries)
    assert [event.data["link"]["has_password"] for event in await feed.events()] == [True, True]


async def test_when_it_happened(links: Links, feed: FeedNews, clock: MovableClock) -> None:
    """An event has the time of the operation, and the link the state that it had then."""
    expires = (clock() + 10 * clock.offset.resolution * 1_000_000).isoformat()
    await links.make(expires_at=expires)
    clock.offset += clock.offset.resolution * 60_000_000
    (event,) = await feed.events()
    assert (utc_now() - event.at).total_seconds() < 60
    assert (event.data["link"]["state"], (await links.list())[0]["state"]) == ("enabled", "expired")


async def test_short_urls(links: Links, database: Database, organization: TestOrganization) -> None:
    """Events of links and of clicks have the short URL as this service writes it; a click of a link that is
    gone has none."""
    made = await links.make(selected_path="a")
    gone = LinkId(str(uuid.uuid4()))
    clicks = [click(organization.id, link_id, utc_now()) for link_id in (LinkId(made["id"]), gone)]
    await ship(database, clicks)
    await place_all(database, organization.id)
    page = await read_feed(database, organization.id, START, url_form=ShortUrlForm(8080))
    short_url = f"http://{organization.domain}:8080/a"
    short_urls = [
        event.data["link"]["short_url"] if event.type is EventType.LINK_CREATED else event.data["short_url"]
        for event in page.events
    ]
    assert short_urls == [short_url, short_url, None]


@pytest.fixture
async def other_host(settings: Settings, tmp_path: Path, service: Service) -> AsyncIterator[Database]:
    """The same database, as another host has it."""
    async with open_database(settings) as database:
        yield database


async def test_two_hosts_change_one_link(
    links: Links, feed: FeedNews, database: Database, other_host: Database, organization: TestOrganization
) -> None:
    """Events of a link come in the order of its changes: each differs from the one before in what it says
    has changed, and in nothing else."""
    made = await links.make()

    async def change(host: Database, field: str) -> None:
        for number in range(25):
            operation = ChangeLink(LinkId(made["id"]), {field: str(number)})
            request = LinkRequest(organization.id, CreatedBy.REST, utc_now(), operation)
            await store_link(host, request, DestinationPolicies(host))

    fields = {"utm_source": database, "utm_term": other_host}
    await asyncio.gather(*(change(host, field) for field, host in fields.items()))
    events = await feed.events()
    assert len(events) == 51
    shown = [event.data["link"] for event in events]
    for (before, after), event in zip(itertools.pairwise(shown), events[1:], strict=True):
        differing = [name for name in after if after[name] != before[name] and name != "modified_at"]
        assert differing == event.data["changed"]
    assert {event.data["changed"][0] for event in events[1:]} == {*fields}
    assert await replayed(database, organization.id) == await stored(database, organization.id)


async def test_large_links(database: Database, organization: TestOrganization) -> None:
    """However large links are, and however many are stored together, MongoDB takes their entries, each of
    which is far from its limit."""
    rules = [rule(f"https://shop.example/{number}/" + "y" * 1_900) for number in range(16)]
    new = parse_new_link(link_body(organization, rules=rules), NEW_LINK_FIELDS)
    requests = [LinkRequest(organization.id, CreatedBy.REST, utc_now(), CreateLink(new)) for _ in range(80)]
    await write_links(database, [Submission(requests)], DestinationPolicies(database))
    sizes = {"$project": {"size": {"$bsonSize": "$$ROOT"}}}
    cursor = database[entries.NAME].aggregate([{"$match": {"org_id": organization.id}}, sizes])
    measured = [document["size"] async for document in cursor]
    assert len(measured) >= 3
    assert max(measured) < 2_000_000
    assert len(await read_all(database, organization.id)) == 80

"""The pages of webhooks: made with a secret that is shown once, tested, replayed, woken and deleted."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.domain.ids import EndpointId
from backend.domain.webhooks.endpoint import Endpoint, EndpointState, Form
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag
from backend.storage.webhooks.deliveries import list_deliveries
from backend.storage.webhooks.endpoints import (
    NAME,
    change_endpoint,
    create_endpoint,
    get_endpoint,
    list_endpoints,
)
from backend.system.clock import utc_now
from tests.api.whole_links import Links
from tests.dashboard.people import FormsOf, Person, heading
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.processes.service_process import free_port
from tests.webhooks.receiver import Receiver, receiver

SECRET = re.compile(r'<code class="secret">([^<]+)</code>')


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver of this test's own."""
    with receiver() as started:
        yield started


@dataclass(frozen=True, slots=True)
class Desk:
    """A person at the pages of an organization's webhooks."""

    person: Person
    database: Database
    organization: TestOrganization

    async def make(self, url: str, **fields: Any) -> EndpointId:
        """A webhook; its id."""
        made = await create_endpoint(self.database, self.organization.id, {"url": url} | fields, utc_now())
        return made.id

    async def stored(self, endpoint_id: EndpointId) -> Endpoint:
        """The webhook as it is stored."""
        return await get_endpoint(self.database, self.organization.id, endpoint_id)

    async def put_to_sleep(self, endpoint_id: EndpointId) -> None:
        """What five days of failures would have left."""
        now = utc_now()
        asleep = {"slept_at": now, "failing_since": now - timedelta(days=5), "last_error": "It is away"}
        update = {"$set": asleep | {"holder": None}, "$inc": {"term": 1}}
        await self.database[NAME].update_one({"_id": endpoint_id}, update)

    async def page(self, endpoint_id: EndpointId) -> str:
        """The webhook's page."""
        return (await self.person.get(f"/webhooks/{endpoint_id}")).text

    async def send(self, endpoint_id: EndpointId, action: str, **fields: str) -> httpx.Response:
        """Send the form for this on the webhook's page."""
        page = f"/webhooks/{endpoint_id}"
        return await self.person.send(page, f"{page}/{action}", **fields)


@pytest.fixture
def desk(person: Person, database: Database, organization: TestOrganization) -> Desk:
    """A person of this test's organization at its webhooks."""
    return Desk(person, database, organization)


async def test_a_webhook_is_made_and_its_secret_shown_once(desk: Desk, hook: Receiver) -> None:
    """With its choice; the page after making it says how to verify with it, and no later page has it."""
    await create_tag(desk.database, desk.organization.id, "Spring", None, utc_now())
    link = await Links(desk.person.client, desk.organization).make(selected_path="s")
    chosen = {"type-click": "on", "type-lead": "on", "links": link["short_url"], "tags": "spring"}
    made = await desk.person.send("/webhooks/new", "/webhooks", url=hook.url(), batch_size="100", **chosen)
    assert made.status_code == 200
    (stored,) = await list_endpoints(desk.database, desk.organization.id)
    assert (stored.url, stored.form, stored.batch_size) == (hook.url(), Form.JSON, 100)
    assert ([*stored.types], [*stored.link_ids]) == (["click", "lead"], [link["id"]])
    assert len(stored.tag_ids) == 1
    shown = SECRET.search(made.text)
    assert shown
    assert html.unescape(shown[1]) == stored.secret
    assert f'Webhook("{stored.secret}")' in html.unescape(made.text)
    for page in ("/webhooks", f"/webhooks/{stored.id}", f"/webhooks/{stored.id}/change"):
        assert "whsec_" not in (await desk.person.get(page)).text
    filled = FormsOf((await desk.person.get(f"/webhooks/{stored.id}/change")).text)
    fields = filled.fields_of(f"/webhooks/{stored.id}/change")
    assert fields.items() >= (chosen | {"url": hook.url(), "form": "json", "tags": "Spring"}).items()
    assert "type-refund" not in fields


async def test_a_chat_verifies_nothing(desk: Desk) -> None:
    """Whoever adds a channel of a chat is not told to verify signatures there."""
    made = await desk.person.send("/webhooks/new", "/webhooks", url="https://chat.example/x", form="slack")
    assert "Slack, Discord and Teams don't check that" in html.unescape(made.text)
    assert "standardwebhooks" not in made.text


async def test_a_field_that_breaks_its_rule(desk: Desk) -> None:
    """The form comes again with what was typed and a sentence at the field, and nothing is made."""
    page = await desk.person.get("/webhooks/new")
    for field, text, problem in (
        ("url", "", "Address must not be empty."),
        ("url", "http://10.0.0.1/", "Address must be an https URL."),
        ("tags", "None", "Tags has a tag that was not found: None."),
        ("links", "spring", "Links has a line that is no short URL or id of a link of yours: spring."),
        ("batch_size", "many", "Each request has must be a whole number from 1 to 100."),
        ("form", "fax", "Form must be one of json, slack, discord, teams."),
    ):
        typed = {"url": "https://crm.example/", "type-click": "on", field: text}
        answer = await desk.person.submit(page, "/webhooks", **typed)
        assert answer.status_code == 422, problem
        assert problem in html.unescape(answer.text)
        assert FormsOf(answer.text).fields_of("/webhooks")["type-click"] == "on"
    assert await list_endpoints(desk.database, desk.organization.id) == []


async def test_a_change(desk: Desk) -> None:
    """The form has the fields, and changes those that were changed; a wrong one is told."""
    one = await desk.make("https://crm.example/a", batch_size=20)
    page = f"/webhooks/{one}/change"
    answer = await desk.person.send(page, page, url="https://crm.example/b", form="slack")
    assert answer.headers["Location"] == f"/webhooks/{one}?notice=webhook-changed"
    stored = await desk.stored(one)
    assert (stored.url, stored.form, stored.batch_size) == ("https://crm.example/b", Form.SLACK, 20)
    assert (await desk.person.send(page, page, url="crm")).status_code == 422
    assert await desk.stored(one) == stored


async def test_the_test_button(desk: Desk, hook: Receiver) -> None:
    """What the receiver answered is on the page at once, in words, and among the deliveries."""
    one = await desk.make(hook.url())
    good = await desk.send(one, "test")
    assert "The receiver took it: it answered 204 after" in good.text
    hook.answer = lambda _: (500, {}, "<b>no</b>")
    bad = await desk.send(one, "test")
    assert "It was not taken. The receiver answered with status 500: &lt;b&gt;no&lt;/b&gt;" in bad.text
    nowhere = await desk.make(f"http://127.0.0.1:{free_port()}/")
    assert "The receiver does not answer" in (await desk.send(nowhere, "test")).text
    deliveries = await list_deliveries(desk.database, desk.organization.id, one)
    assert [delivery.status for delivery in deliveries] == [500, 204]
    assert (await desk.page(one)).count("A test") == 2


async def test_what_waits_is_told(desk: Desk, hook: Receiver) -> None:
    """A failing webhook says since when, what is wrong and when it is tried again; then that all is told."""
    hook.answer = lambda _: (503, {}, "closed")
    one = await desk.make(hook.url(), types=("click",))
    links = Links(desk.person.client, desk.organization)
    await links.click(await links.make())
    words = await wait_for_async(lambda: desk.page(one), "a failure", lambda page: "tried once" in page)
    assert "The receiver answered with status 503: closed." in words
    assert ">Fails<" in words
    assert re.search(r"tried once, next try at \d\d:\d\d:\d\d\.", words)
    assert ">Fails<" in (await desk.person.get("/webhooks")).text
    hook.answer = lambda _: (204, {}, "")
    await desk.send(one, "status", is_enabled="true")  # tried at once
    works = await wait_for_async(lambda: desk.page(one), "a success", lambda page: ">Works<" in page)
    assert "All there is" in works
    assert "status 503" in works  # among the last deliveries


async def test_a_webhook_that_sleeps(desk: Desk, hook: Receiver) -> None:
    """Every page says so, until somebody lets it go on; what waited arrives then."""
    one = await desk.make(hook.url(), types=("click",))
    await desk.put_to_sleep(one)
    links = Links(desk.person.client, desk.organization)
    await links.click(await links.make())
    for page in ("/", "/links", "/keys", "/webhooks"):
        assert f'<a href="/webhooks/{one}">{hook.url()}</a> sleeps' in (await desk.person.get(page)).text
    assert "It is away." in await desk.page(one)
    forms = FormsOf((await desk.person.get("/webhooks")).text)
    assert forms.fields_of(f"/webhooks/{one}/go-on")
    answer = await desk.send(one, "go-on")
    assert answer.headers["Location"] == f"/webhooks/{one}?notice=webhook-goes-on"
    await wait_for_async(lambda: desk.page(one), "it works", lambda page: ">Works<" in page)
    assert len(hook.event_ids) == 1
    assert "sleeps" not in (await desk.person.get("/keys")).text


async def test_another_organization_is_not_told_of_it(
    desk: Desk, hook: Receiver, make_organization: Any
) -> None:
    """Only the people of its own organization see that a webhook sleeps."""
    other = await make_organization()
    theirs = await create_endpoint(desk.database, other.id, {"url": hook.url()}, utc_now())
    await desk.put_to_sleep(theirs.id)
    assert "sleeps" not in (await desk.person.get("/tags")).text


async def test_the_overview_tells_of_failures(desk: Desk) -> None:
    """A webhook that fails for a while is among what to look at; one that failed just now is not."""
    old, new = await desk.make("https://crm.example/old"), await desk.make("https://crm.example/new")
    for one, minutes in ((old, 16), (new, 14)):
        now = utc_now()
        trouble = {"failing_since": now - timedelta(minutes=minutes), "next_try_at": now + timedelta(hours=1)}
        await desk.database[NAME].update_one(
            {"_id": one}, {"$set": trouble | {"holder": None}, "$inc": {"term": 1}}
        )
    page = (await desk.person.get("/")).text
    assert f'<a href="/webhooks/{old}">https://crm.example/old</a> takes nothing since' in page
    assert "crm.example/new" not in page


async def test_a_pause(desk: Desk) -> None:
    """A webhook is paused and resumed."""
    one = await desk.make("https://crm.example/")
    await desk.send(one, "status")
    assert (await desk.stored(one)).state is EndpointState.DISABLED
    assert ">Paused<" in await desk.page(one)
    await desk.send(one, "status")
    assert (await desk.stored(one)).state is EndpointState.ACTIVE


async def test_a_replay_is_by_the_person_s_clock(desk: Desk, hook: Receiver) -> None:
    """From a moment that is read in the time zone of the form; what was since then arrives again."""
    one = await desk.make(hook.url(), types=("click",))
    links = Links(desk.person.client, desk.organization)
    await links.click(await links.make())
    await wait_for_async(lambda: desk.page(one), "a delivery", lambda page: ">Works<" in page)
    before = utc_now() - timedelta(hours=1)
    in_tokyo = (before + timedelta(hours=9)).strftime("%Y-%m-%dT%H:%M")
    answer = await desk.send(one, "replay", zone="Asia/Tokyo", **{"from": in_tokyo})
    assert answer.headers["Location"] == f"/webhooks/{one}?notice=webhook-replays"

    async def repeated() -> int:
        return (await desk.stored(one)).repeats

    await wait_for_async(repeated, "the repeat")
    assert len(hook.event_ids) == 2
    assert len(set(hook.event_ids)) == 1
    for moment, problem in (
        (in_tokyo, "From must not lie in the future."),
        ("soon", "From must be a date and a time."),
        ("0001-01-01T00:00", "From must be a date and a time."),
    ):
        zone = "America/Los_Angeles" if moment == in_tokyo else "Asia/Tokyo"
        refused = await desk.send(one, "replay", zone=zone, **{"from": moment})
        assert (refused.status_code, problem in refused.text) == (422, True)


async def test_a_new_secret(desk: Desk) -> None:
    """It is shown once, with the word that the one before signs for another day."""
    one = await desk.make("https://crm.example/")
    first = (await desk.stored(one)).secret
    answer = await desk.send(one, "rotate-secret")
    shown = SECRET.search(answer.text)
    assert shown
    assert html.unescape(shown[1]) == (await desk.stored(one)).secret != first
    assert "another 24 hours" in answer.text
    assert "whsec_" not in await desk.page(one)


async def test_a_webhook_is_deleted(desk: Desk) -> None:
    """It is gone from the list, and its page too."""
    one = await desk.make("https://crm.example/")
    assert heading(await desk.person.get(f"/webhooks/{one}")) == "crm.example"
    answer = await desk.send(one, "delete")
    assert answer.headers["Location"] == "/webhooks?notice=webhook-deleted"
    assert await list_endpoints(desk.database, desk.organization.id) == []
    assert (await desk.person.get(f"/webhooks/{one}")).status_code == 404


async def test_a_deleted_tag_is_told(desk: Desk) -> None:
    """A webhook that chose only a tag that was deleted does not say that it is told of all links."""
    tag = await create_tag(desk.database, desk.organization.id, "Spring", None, utc_now())
    one = await desk.make("https://crm.example/", tag_ids=(tag.id,))
    await desk.database["tags"].delete_one({"_id": tag.id})
    assert "with a tag that was deleted" in await desk.page(one)
    await change_endpoint(desk.database, desk.organization.id, one, {"tag_ids": ()})
    assert "all links" in await desk.page(one)

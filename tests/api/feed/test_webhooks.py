"""Webhooks over REST: made, changed, tested, replayed, woken and deleted, against a real receiver."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.webhooks.endpoint import MOST_ENDPOINTS
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag, delete_tag
from backend.storage.webhooks.endpoints import NAME, create_endpoint
from backend.system.clock import utc_now
from backend.web import current
from tests.api.link_calls import API, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.processes.service_process import free_port
from tests.webhooks.receiver import OK, Answer, Receiver, Request, receiver

UNKNOWN = {"errorMessage": "Webhook not found or does not belong to your organization"}
ACTIONS = [
    ("GET", ""),
    ("PATCH", ""),
    ("DELETE", ""),
    ("POST", "/test"),
    ("POST", "/replay"),
    ("POST", "/go-on"),
    ("POST", "/rotate-secret"),
    ("GET", "/deliveries"),
]


@dataclass(frozen=True, slots=True)
class Webhooks:
    """The webhooks of an organization, over the REST API."""

    client: httpx.AsyncClient
    organization: TestOrganization

    async def call(self, method: str, path: str = "", body: object = None) -> httpx.Response:
        """A call with the organization's key."""
        headers = self.organization.headers
        return await self.client.request(method, f"{API}/webhooks{path}", json=body, headers=headers)

    async def make(self, url: str, **fields: Any) -> dict[str, Any]:
        """A new webhook, with its secret."""
        answer = await self.call("POST", body={"url": url} | fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def get(self, webhook_id: str) -> dict[str, Any]:
        """The webhook with this id."""
        webhook: dict[str, Any] = (await self.call("GET", f"/{webhook_id}")).json()
        return webhook


@pytest.fixture
def webhooks(client: httpx.AsyncClient, organization: TestOrganization) -> Webhooks:
    """The webhooks of this test's organization."""
    return Webhooks(client, organization)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    """A receiver of this test's own."""
    with receiver() as own:
        yield own


async def test_a_webhook_from_making_to_deleting(
    webhooks: Webhooks, links: Links, database: Database
) -> None:
    """It is made with its choice, listed, found, changed and deleted; tags are told by their names."""
    await create_tag(database, webhooks.organization.id, "Spring", None, utc_now())
    link = await links.make()
    chosen = {"types": ["click", "lead"], "link_ids": [link["id"]], "tags": ["Spring"]}
    made = await webhooks.make("http://localhost:9/hook", **chosen, form="slack", batch_size=20)
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert chosen.items() <= made.items()
    assert (made["state"], made["form"], made["batch_size"]) == ("active", "slack", 20)
    assert (made["delivered"], made["last_error"], made["next_try_at"]) == (0, None, None)
    assert (await webhooks.call("GET")).json() == {"webhooks": [made]}
    changes = {"url": "http://localhost:9/other", "types": [], "tags": [], "is_enabled": False}
    changed = await webhooks.call("PATCH", f"/{made['id']}", changes)
    assert (changed.status_code, changed.json()) == (200, made | changes | {"state": "disabled"})
    assert (await webhooks.call("DELETE", f"/{made['id']}")).status_code == 204
    assert (await webhooks.call("DELETE", f"/{made['id']}")).status_code == 404
    assert (await webhooks.call("GET")).json() == {"webhooks": []}


async def test_a_deleted_tag_is_no_choice_of_everything(webhooks: Webhooks, database: Database) -> None:
    """A webhook whose only tag was deleted shows its id, and not that it gets all links."""
    org_id = webhooks.organization.id
    tag = await create_tag(database, org_id, "Spring", None, utc_now())
    made = await webhooks.make("http://localhost:9/", tags=["SPRING"])
    assert made["tags"] == ["Spring"]
    await delete_tag(database, org_id, "Spring")
    assert (await webhooks.get(made["id"]))["tags"] == [tag.id]


BROKEN: list[tuple[Any, ...]] = [
    ({}, ["url field is required"]),
    ({"url": None}, ["url field is required"]),
    ({"url": "http://10.0.0.1/"}, ["url must be an https URL"]),
    ({"url": "https://10.0.0.1/"}, ["url must be a public address, not one of a private network"]),
    (
        {"url": "shop", "types": ["sale"], "batch_size": 0, "colour": "red"},
        [
            "colour is not a field of this request",
            "url must be an absolute http or https URL",
            "types must be one of link.created, link.changed, link.archived, click, lead, conversion, "
            "refund, event, identify, install, open, erased, alert, audit",
            "batch_size must be a whole number from 1 to 100",
        ],
    ),
    ({"url": "https://crm.example/", "tags": ["None"]}, ["tags has a tag that was not found: None"]),
    ({"url": "https://crm.example/", "link_ids": "all"}, ["link_ids must be a list"]),
]


async def test_what_breaks_a_rule(webhooks: Webhooks) -> None:
    """It is refused with all wrong fields and their rules, and nothing is made."""
    for body, messages in BROKEN:
        answer = await webhooks.call("POST", body=body)
        assert (answer.status_code, answer.json()) == (400, wrong(*messages))
        assert (await webhooks.call("GET")).json() == {"webhooks": []}, body


async def test_there_are_fifty(webhooks: Webhooks, database: Database) -> None:
    """One more is refused with the number."""
    fields = {"url": "https://crm.example/"}
    for _ in range(MOST_ENDPOINTS):
        await create_endpoint(database, webhooks.organization.id, fields, utc_now())
    answer = await webhooks.call("POST", body=fields)
    rule = "url would be one more than the 50 that are possible"
    assert (answer.status_code, answer.json()) == (400, wrong(rule))


async def test_a_secret_is_shown_once(webhooks: Webhooks, hook: Receiver) -> None:
    """Where it is made, and where it is replaced, and in no other answer."""
    made = await webhooks.make(hook.url())
    path = f"/{made['id']}"
    rotated = (await webhooks.call("POST", f"{path}/rotate-secret")).json()
    assert rotated["secret"] != made["secret"]
    later = [
        await webhooks.call("GET"),
        await webhooks.call("GET", path),
        await webhooks.call("PATCH", path, {"is_enabled": True}),
        await webhooks.call("POST", f"{path}/test"),
        await webhooks.call("POST", f"{path}/go-on"),
        await webhooks.call("POST", f"{path}/replay", {"from": "2026-01-01"}),
        await webhooks.call("GET", f"{path}/deliveries"),
    ]
    assert [answer.status_code for answer in later] == [200] * len(later)
    assert not [answer.text for answer in later if "whsec_" in answer.text or '"secret"' in answer.text]
    # For a day both sign, so that a receiver may be changed at any time.
    (tested,) = hook.requests
    assert tested.verify(made["secret"]) == tested.verify(rotated["secret"])


async def test_a_test_tells_what_was_answered(webhooks: Webhooks, hook: Receiver) -> None:
    """The receiver's status and words, or that nothing answered; and it is the last delivery."""
    made = await webhooks.make(hook.url())
    good = (await webhooks.call("POST", f"/{made['id']}/test")).json()
    assert (good["status"], good["error"], good["is_test"]) == (204, None, True)
    assert [request.verify(made["secret"]) for request in hook.requests] == [hook.requests[0].json]
    hook.answer = lambda _: (503, {}, "closed for the night")
    bad = (await webhooks.call("POST", f"/{made['id']}/test")).json()
    assert bad["status"] == 503
    assert bad["error"] == "The receiver answered with status 503: closed for the night"
    assert (await webhooks.call("GET", f"/{made['id']}/deliveries")).json() == {"deliveries": [bad, good]}
    nowhere = await webhooks.make(f"http://127.0.0.1:{free_port()}/")
    refused = (await webhooks.call("POST", f"/{nowhere['id']}/test")).json()
    assert (refused["status"], refused["error"]) == (None, "The receiver does not answer")


async def test_a_test_of_a_receiver_that_hangs(
    webhooks: Webhooks, hook: Receiver, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asked for it is told that no answer came in time, though that takes longer than a request may."""
    monkeypatch.setattr(current, "REQUEST_SECONDS", 1.5)
    monkeypatch.setattr(service.resources.receivers.client, "seconds", 1.7)
    is_over = threading.Event()

    def hang(_: Request) -> Answer:
        is_over.wait(20)
        return OK

    hook.answer = hang
    made = await webhooks.make(hook.url())
    told = (await webhooks.call("POST", f"/{made['id']}/test")).json()
    is_over.set()
    assert (told["status"], told["error"]) == (None, "The receiver did not answer in time")
    assert len(hook.requests) == 1


async def test_what_happens_is_delivered_and_replayed(
    webhooks: Webhooks, links: Links, hook: Receiver
) -> None:
    """A new link is told; a replay from a moment before tells it again with the same id."""
    before = utc_now() - timedelta(minutes=1)
    made = await webhooks.make(hook.url(), types=["click"])
    await links.click(await links.make())
    await delivered(webhooks, made["id"], 1)
    answer = await webhooks.call("POST", f"/{made['id']}/replay", {"from": before.isoformat()})
    assert answer.status_code == 200
    await delivered(webhooks, made["id"], 2)
    first, second = (request.verify(made["secret"]) for request in hook.requests)
    assert first == second
    assert first["type"] == "click"
    shown = await webhooks.get(made["id"])
    assert (shown["state"], shown["repeats"]) == ("active", 1)


async def delivered(webhooks: Webhooks, webhook_id: str, events: int) -> None:
    """Wait until so many events were delivered to the webhook."""

    async def so_far() -> int:
        return int((await webhooks.get(webhook_id))["delivered"])

    await wait_for_async(so_far, "the events were not delivered", lambda number: number >= events)


@pytest.mark.parametrize("since", ["0001-01-01", "1969-12-31T23:59:59Z", "2026-01-01"])
async def test_a_replay_from_long_ago(webhooks: Webhooks, since: str) -> None:
    """It begins where the feed does."""
    made = await webhooks.make("http://localhost:9/", is_enabled=False)
    answer = await webhooks.call("POST", f"/{made['id']}/replay", {"from": since})
    assert (answer.status_code, answer.json()["cursor"]) == (200, "1.0")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "from field is required"),
        ({"from": "yesterday"}, "from must be a date, or an ISO 8601 time with a zone, such as "
         "2026-03-01T12:00:00Z (+ as %2B)"),
        ({"from": "2999-01-01"}, "from must not lie in the future"),
    ],
)  # fmt: skip
async def test_a_replay_from_no_time(webhooks: Webhooks, body: dict[str, Any], message: str) -> None:
    """It is refused with the rule."""
    made = await webhooks.make("http://localhost:9/", is_enabled=False)
    answer = await webhooks.call("POST", f"/{made['id']}/replay", body)
    assert (answer.status_code, answer.json()) == (400, wrong(message))


async def test_what_sleeps_is_woken(
    webhooks: Webhooks, links: Links, hook: Receiver, database: Database
) -> None:
    """While it sleeps it is sent nothing; then it gets what waited, and a change does not wake it."""
    # Nobody has it before it sleeps: a process that had might send the click before it sees that.
    made = await webhooks.make(hook.url(), types=["click"], is_enabled=False)
    asleep = {"slept_at": utc_now(), "failing_since": utc_now() - timedelta(days=5), "last_error": "No"}
    await database[NAME].update_one({"_id": made["id"]}, {"$set": asleep | {"is_enabled": True}})
    await links.click(await links.make())
    changed = await webhooks.call("PATCH", f"/{made['id']}", {"batch_size": 2})
    assert (changed.json()["state"], changed.json()["last_error"]) == ("sleeping", "No")
    woken = (await webhooks.call("POST", f"/{made['id']}/go-on")).json()
    assert woken["state"] == "active"
    await delivered(webhooks, made["id"], 1)
    assert [request.verify(made["secret"]) for request in hook.requests] == [hook.requests[0].json]


async def put_to_sleep(database: Database, webhook_id: str) -> None:
    """What five days of failures would have left."""
    now = utc_now()
    asleep = {"slept_at": now, "failing_since": now - timedelta(days=5), "last_error": "No", "holder": None}
    await database[NAME].update_one({"_id": webhook_id}, {"$set": asleep, "$inc": {"term": 1}})


async def test_another_organization_s_webhook_is_not_found(
    webhooks: Webhooks, make_organization: OrganizationFactory, hook: Receiver
) -> None:
    """It can't be seen, changed, deleted, tested, replayed or woken: it is as one that does not exist."""
    theirs = Webhooks(webhooks.client, await make_organization())
    made = await theirs.make(hook.url())
    before = await theirs.get(made["id"])
    ids = (made["id"], "0b0e7a1e-0000-4000-8000-000000000000", "none")
    for (method, action), webhook_id in product(ACTIONS, ids):
        body = {"from": "2026-01-01"} if action == "/replay" else {"url": "http://localhost:9/"}
        answer = await webhooks.call(method, f"/{webhook_id}{action}", body if method != "GET" else None)
        assert (answer.status_code, answer.json()["code"]) == (404, 103)
        assert answer.json()["error"] == UNKNOWN | {"fieldName": "WEBHOOK_NOT_FOUND"}
        assert await theirs.get(made["id"]) == before, (method, action, webhook_id)
    assert (await webhooks.call("GET")).json() == {"webhooks": []}
    assert hook.requests == []


async def test_their_links_and_tags_can_t_be_chosen(
    webhooks: Webhooks, make_organization: OrganizationFactory, database: Database
) -> None:
    """A link or a tag of another organization is refused as one that does not exist."""
    other = await make_organization()
    link = await Links(webhooks.client, other).make()
    await create_tag(database, other.id, "Theirs", None, utc_now())
    url = {"url": "https://crm.example/"}
    refused = await webhooks.call("POST", body=url | {"link_ids": [link["id"]]})
    rule = f"link_ids must be ids of a link of the organization; {link['id']} is none"
    assert (refused.status_code, refused.json()) == (400, wrong(rule))
    refused = await webhooks.call("POST", body=url | {"tags": ["Theirs"]})
    assert refused.json() == wrong("tags has a tag that was not found: Theirs")

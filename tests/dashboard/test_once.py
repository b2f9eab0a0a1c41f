"""A form that makes something, and comes twice: what it is answered, and what is kept of it."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.dashboard.accounts import keys
from backend.dashboard.frame import once
from backend.dashboard.links.editing.tags import MORE
from backend.domain.accounts.api_keys import KeyKind
from backend.storage.accounts import api_keys
from backend.storage.driver.mongo import Database
from backend.storage.links import links
from backend.storage.links import tags as stored_tags
from backend.storage.links.writing import idempotency
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization

TAG = {"name": "Spring", "color": "#2563eb"}


@pytest.fixture
async def form(person: Person) -> dict[str, str]:
    """The fields of the form for a new tag, on a page that is open."""
    return FormsOf((await person.get("/tags")).text).fields_of("/tags") | TAG


async def count_tags(database: Database, organization: TestOrganization) -> int:
    """How many tags there are."""
    return await database[stored_tags.NAME].count_documents({"org_id": organization.id})


async def record_of(database: Database, organization: TestOrganization) -> dict[str, Any]:
    """What is kept of the one form that was carried out."""
    (record,) = (
        await database[idempotency.NAME].find({"_id": {"$regex": f"^{organization.id}/"}}).to_list(None)
    )
    return dict(record)


async def test_a_refused_form_may_come_again(
    person: Person, database: Database, organization: TestOrganization, form: dict[str, str]
) -> None:
    """What was refused was not carried out: once what was in its way is gone, the very same form is."""
    first = await person.send("/tags", "/tags", **TAG)
    assert first.status_code == 303
    assert (await person.client.post("/tags", data=form)).status_code == 422
    await database[stored_tags.NAME].delete_many({"org_id": organization.id})
    assert (await person.client.post("/tags", data=form)).status_code == 303
    assert await count_tags(database, organization) == 1


async def test_a_refused_form_whose_tag_was_made(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """Of a link whose path is taken, the new tag stays. The very same form makes it once the path is free."""
    fields = FormsOf((await person.get("/links/new")).text).fields_of("/links/new") | {
        "destination_url": "https://shop.example/",
        "link_name": "Spring",
        "selected_path": "spring",
        MORE: "New",
    }
    taken = fields | {"form_once": "another", MORE: ""}
    made = await person.client.post("/links/new", data=taken)
    assert (await person.client.post("/links/new", data=fields)).status_code == 422
    assert await count_tags(database, organization) == 1
    await database[links.NAME].delete_one(
        {"_id": made.headers["location"].rpartition("/")[2].partition("?")[0]}
    )
    again = await person.client.post("/links/new", data=fields)
    assert (again.status_code, again.headers["location"][:7]) == (303, "/links/")
    assert await database[links.NAME].count_documents({"org_id": organization.id}) == 1


async def test_a_changed_field_is_another_wish(
    person: Person, database: Database, organization: TestOrganization, form: dict[str, str]
) -> None:
    """Who goes back and types another name wants another tag; who opens the page anew, too."""
    for sent in (form, form | {"name": "Summer"}):
        assert (await person.client.post("/tags", data=sent)).status_code == 303
    assert await count_tags(database, organization) == 2
    for _ in range(2):
        assert (await person.send("/annotations", "/annotations", text="Sale")).status_code == 303
    assert await database["annotations"].count_documents({"org_id": organization.id}) == 2


async def test_a_service_that_stopped_before_its_answer(
    person: Person,
    database: Database,
    organization: TestOrganization,
    form: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The form is not carried out a second time, and its page says so."""
    monkeypatch.setattr(once, "_WAIT_SECONDS", 0.1)
    assert (await person.client.post("/tags", data=form)).status_code == 303
    record = await record_of(database, organization)
    unknown = {"status": idempotency.ANSWER_UNKNOWN, "answer": []}
    await database[idempotency.NAME].update_one({"_id": record["_id"]}, {"$set": unknown})
    again = await person.client.post("/tags", data=form, headers={"Referer": "http://localhost:8080/tags"})
    assert (again.status_code, again.headers["location"]) == (303, "/tags?notice=form-was-done")
    assert "The form came twice" in (await person.get(again.headers["location"])).text
    assert await count_tags(database, organization) == 1


async def test_what_is_not_stored_was_not_carried_out(
    person: Person,
    database: Database,
    organization: TestOrganization,
    form: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault between the note and the tag takes both back, so that the form can come again."""
    with monkeypatch.context() as broken:
        broken.setattr("backend.storage.audit.recording.note_facts", None)
        assert (await person.client.post("/tags", data=form)).status_code == 500
    assert await count_tags(database, organization) == 0
    assert (await person.client.post("/tags", data=form)).status_code == 303
    assert await count_tags(database, organization) == 1


async def test_a_kept_answer_tells_nobody_its_secret(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """A page with a new key is kept for who sent the form, and the database has nothing of it that can be
    read."""
    fields = FormsOf((await person.get("/keys")).text).fields_of("/keys") | {
        "kind": "rest",
        "name-rest": "Till",
    }
    first, second = [await person.client.post("/keys", data=fields) for _ in range(2)]
    assert first.text == second.text
    (secret,) = set(re.findall(rf"{KeyKind.REST.prefix}[\w-]{{20,}}", first.text))
    record = await record_of(database, organization)
    assert secret not in "".join(record["answer"])
    assert "Till" not in str(record)


async def test_a_browser_that_left_before_its_answer(
    service: Service, person: Person, database: Database, organization: TestOrganization,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """At a second click, a browser gives up the first request: the second shows the new key."""
    was_made, make = asyncio.Event(), api_keys.make_api_key

    async def made(*arguments: Any, **named: Any) -> Any:
        key = await make(*arguments, **named)
        was_made.set()
        await asyncio.sleep(0.05)  # which is when the browser leaves
        return key

    monkeypatch.setattr(keys, "make_api_key", made)
    fields = FormsOf((await person.get("/keys")).text).fields_of("/keys") | {"kind": "rest"}
    first = person.client.build_request("POST", "/keys", data=fields)
    pieces = [{"type": "http.request", "body": first.content, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if pieces:
            return pieces.pop()
        await was_made.wait()
        return {"type": "http.disconnect"}

    async def send(_: object) -> None:
        raise AssertionError("nobody is there")

    await service(scope_of(first), receive, send)
    second = await person.client.post("/keys", data=fields)
    assert re.search(rf"{KeyKind.REST.prefix}[\w-]{{20,}}", second.text)
    assert await database[api_keys.NAME].count_documents({"org_id": organization.id, "kind": "rest"}) == 2


def scope_of(request: httpx.Request) -> dict[str, Any]:
    """A request as the server gives it to the service."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.url.scheme,
        "path": request.url.path,
        "raw_path": request.url.raw_path,
        "query_string": request.url.query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 8080),
        "extensions": {},
    }

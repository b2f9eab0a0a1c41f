"""The deadline of a form: for what it waits for in MongoDB, not for what takes others their time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest

from backend.app import Service
from backend.domain.links.links import Link
from backend.storage.accounts.users.passwords import HASHING
from backend.storage.driver.mongo import Database
from tests.dashboard.people import FormsOf, Person
from tests.processes.far_site import Handler, Site
from tests.stopped_thread import stopped

# A deadline for which nothing waits that comes so much later.
SECONDS, LATE = 1.0, 1.2


@pytest.fixture(autouse=True)
def short_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms have less time than in operation."""
    monkeypatch.setattr("backend.web.current.REQUEST_SECONDS", SECONDS)


async def test_a_form_that_comes_slowly_takes_nothing_of_it(person: Person) -> None:
    """Who is long in sending it has as much time for the answer as everybody."""
    fields = FormsOf((await person.get("/tags")).text).fields_of("/tags") | {"name": "Slow"}
    body = urlencode(fields).encode()

    async def slowly() -> AsyncIterator[bytes]:
        yield body[:10]
        await asyncio.sleep(LATE)
        yield body[10:]

    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await person.client.post("/tags", content=slowly(), headers=headers)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/tags?notice=tag-made")


async def test_a_slow_page_takes_nothing_of_it(
    person: Person,
    link: Link,
    service: Service,
    database: Database,
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A preview is filled in from a page that takes longer."""
    monkeypatch.setattr(service.resources.pages._network, "_allows_private", True)
    url = site.page("/", "<title>Kites</title>")
    answer_at_once = site.answers["/"]

    def answer_late(handler: Handler) -> None:
        time.sleep(LATE)
        answer_at_once(handler)

    site.answers["/"] = answer_late
    await database["links"].update_one({"_id": link.id}, {"$set": {"destination_url": url, "social": {}}})
    edit = f"/links/{link.id}/edit"
    answer = await person.send(edit, f"/links/{link.id}/preview")
    assert answer.headers["Location"] == f"{edit}?notice=preview-filled"


async def test_a_sign_in_waits_for_its_turn(stranger: Person) -> None:
    """Those before it take nothing of its time."""
    async with stopped(HASHING):
        waiting = asyncio.create_task(stranger.sign_in())
        await asyncio.sleep(LATE)
        assert not waiting.done()
    assert (await waiting).status_code == 303

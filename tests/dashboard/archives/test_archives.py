"""The page on which owners ask for archives."""

from __future__ import annotations

import re
from html import unescape

import pytest
from playwright.sync_api import Page, expect

from backend.domain.archives.archive import MOST_ARCHIVES, ArchiveProgress, ArchiveState
from backend.storage.archives.archives import list_archives
from backend.storage.driver import disk
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.collections import archived_collections
from backend.system.clock import utc_now
from tests.dashboard.office import Office, make_organization, make_user
from tests.dashboard.people import Person
from tests.facts.archives import store_archive, store_file
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import ServiceProcess


async def shown(person: Person) -> str:
    """The text of the page."""
    text = re.sub(r"<[^>]+>", " ", (await person.get("/archives")).text)
    return " ".join(unescape(text).split())


async def test_an_owner_asks_for_an_archive(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """It is there at once, and can be given up."""
    assert "No archive yet" in await shown(person)
    assert (await person.send("/archives", "/archives")).status_code == 303
    [archive] = await list_archives(database, organization.id, utc_now())
    assert (archive.asked_by, archive.mail_to) == (person.email, None)  # no mail server is set
    assert f"Asked for by {person.email}" in await shown(person)
    path = f"/archives/{archive.id}/delete"
    await person.send("/archives", path)
    assert archive.id not in {kept.id for kept in await list_archives(database, organization.id, utc_now())}


async def test_how_far_archives_are(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """The page tells how much is done, of a ready one its size and SHA-256, and why one failed."""
    names, now = list(archived_collections()), utc_now()
    progress = ArchiveProgress(5_000, {names[0]: 1_000, names[2]: 200})
    for state, facts in (
        (ArchiveState.IN_PROGRESS, {"progress": progress}),
        (ArchiveState.FAILED, {"error": "Reading took longer than MongoDB keeps its past"}),
    ):
        archive = await store_archive(database, organization.id, now, state, **facts)
        status = (await person.get(f"/archives/{archive.id}/status")).json()
        assert (status["state"], status["is_over"]) == (state, state is ArchiveState.FAILED)
        assert status["sentence"] in await shown(person)
    ready = await store_file(database, organization.id, now, b"1234567")
    page = await shown(person)
    assert f"1,200 of 5,000 documents, 2 of {len(names)} collections done" in page
    assert "Reading took longer than MongoDB keeps its past" in page
    assert "7 Bytes (7 bytes" in page
    assert ready.sha256 in page
    assert f"Until {ready.expires_at:%-d %b %Y, %H:%M} UTC" in page
    file = await person.get(f"/archives/{ready.id}/file")
    assert (file.status_code, file.content) == (200, b"1234567")
    assert file.headers["Content-Disposition"] == f'attachment; filename="{ready.file_name}"'
    part = await person.client.get(f"/archives/{ready.id}/file", headers={"Range": "bytes=5-"})
    assert (part.status_code, part.content, part.headers["Content-Range"]) == (206, b"67", "bytes 5-6/7")
    beyond = await person.client.get(f"/archives/{ready.id}/file", headers={"Range": "bytes=7-"})
    assert (beyond.status_code, beyond.headers["Content-Range"]) == (416, "bytes */7")


async def test_only_what_is_ready_can_be_downloaded(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """Half an archive has no address that gives it."""
    archive = await store_archive(database, organization.id, utc_now(), ArchiveState.IN_PROGRESS)
    assert f"/archives/{archive.id}/file" not in (await person.get("/archives")).text
    assert (await person.get(f"/archives/{archive.id}/file")).status_code == 404


async def test_why_an_archive_is_refused(
    person: Person, database: Database, organization: TestOrganization, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says that there are too many, or that the disk is nearly full, and what helps."""
    for _ in range(MOST_ARCHIVES):
        await store_file(database, organization.id, utc_now())
    refused = await person.send("/archives", "/archives")
    assert (refused.status_code, "Delete one that you have downloaded" in refused.text) == (409, True)
    monkeypatch.setattr(disk, "LITTLE_SPACE", 10**18)
    refused = await person.send("/archives", "/archives")
    assert (refused.status_code, "disk is nearly full, with" in refused.text) == (409, True)


def test_an_archive_that_is_made_is_followed_in_place(page: Page, running: ServiceProcess) -> None:
    """The page is never loaded again, and only a new state is read aloud; then nothing is asked any more."""
    org = make_organization(running, "Followed")
    Office(running.base_url, make_user(running, org), {}).open_session(page)
    asked: list[str] = []
    messages: list[str] = []
    page.goto(f"{running.base_url}/archives")
    page.get_by_role("button", name="Make an archive").click()
    card = page.locator("section.archive")
    expect(card).to_have_count(1)
    opened = page.evaluate("() => performance.timeOrigin")
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.on("console", lambda message: messages.append(message.text))
    expect(card.locator(".badge")).to_have_text("Ready", timeout=90_000)
    expect(card.locator("[data-live-said]")).to_have_text("It is ready. Look again to download it.")
    expect(card.locator("summary", has_text="Give up")).to_be_hidden()  # it would delete what is ready
    expect(page.locator("[data-announce]")).to_have_text("Ready. It is ready. Look again to download it.")
    count = len(asked)
    page.wait_for_timeout(4500)
    assert (set(asked), len(asked), messages) == ({"status"}, count, [])
    assert page.evaluate("() => performance.timeOrigin") == opened
    card.get_by_role("link", name="Look again").click()
    expect(card.get_by_role("link", name="Download")).to_be_visible()

"""Something is done to many links at once: asked before, each result told, nothing lost on a refusal."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime

import httpx
import pytest

from backend.dashboard.links import bulk_choice
from backend.domain.links.links import Link, LinkState
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links
from backend.storage.links.tags import create_tag
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import NOON, make_link, words
from tests.dashboard.people import FormsOf, Person, heading
from tests.facts.organizations import TestOrganization

BULK, DONE = "/links/bulk", "/links/bulk/done"
Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def made(database: Database, organization: TestOrganization, now: datetime) -> list[Link]:
    """Three links."""
    return [await make_link(database, organization, f"Link {number}", now) for number in range(3)]


@pytest.fixture
async def ask(person: Person, made: list[Link]) -> Ask:
    """Ticks these links in the list, which is open, and presses the button."""
    page = await person.get("/links")

    async def ask(action: str, links: Iterable[Link], **more: str) -> httpx.Response:
        ticks = {f"link-{link.id}": "on" for link in links}
        return await person.submit(page, BULK, action=action, **ticks, **more)

    return ask


async def confirm(person: Person, question: httpx.Response) -> str:
    """Answer the question with yes; what the page says of the results."""
    answer = await person.client.post(DONE, data=FormsOf(question.text).fields_of(DONE))
    assert answer.status_code == 200
    return answer.text


def said(page: str) -> list[str]:
    """The sentences about the results."""
    return [words(item) for item in re.findall(r"<li class=\"(?:good|bad)\">(.*?)</li>", page, re.S)]


async def states(database: Database, links: Iterable[Link]) -> list[LinkState]:
    """The links' states, in their order."""
    some_links = list(links)
    links_by_id = await find_links(database, [link.id for link in some_links], some_links[0].org_id)
    return [links_by_id[link.id].state_at(NOON) for link in some_links]


async def test_asked_before_it_is_done(
    person: Person, ask: Ask, made: list[Link], database: Database
) -> None:
    """The question names the number and the links; only its answer changes them, and tells of each."""
    question = await ask("disable", made[:2])
    assert heading(question) == "Disable 2 links?"
    assert [link.link_name in question.text for link in made] == [True, True, False]
    assert await states(database, made) == ["enabled"] * 3
    assert said(await confirm(person, question)) == ["2 links are disabled now."]
    assert await states(database, made) == ["disabled", "disabled", "enabled"]
    again = await confirm(person, await ask("disable", made))
    assert said(again) == ["1 link is disabled now.", "2 links were disabled before."]
    await confirm(person, await ask("enable", made))
    assert await states(database, made) == ["enabled"] * 3


async def test_archived_and_back(person: Person, ask: Ask, made: list[Link], database: Database) -> None:
    """What is for links in use leaves archived ones alone, and says so; unarchived, they are as they were."""
    assert said(await confirm(person, await ask("archive", made[:1]))) == ["1 link is archived now."]
    question = await ask("disable", made[1:])
    fields = FormsOf(question.text).fields_of(DONE)
    gone = "00000000-0000-4000-8000-000000000000"
    fields["links"] = " ".join([made[0].id, gone, made[1].id])
    page = (await person.client.post(DONE, data=fields)).text
    assert said(page) == ["1 link is disabled now.", "2 links could not be changed and are as before."]
    assert "it is archived" in page
    assert "there is no such link any more" in page
    assert FormsOf(page).fields_of(DONE)["links"].split() == [made[0].id, gone]  # to try again
    assert await states(database, made) == ["archived", "disabled", "enabled"]
    await confirm(person, await ask("unarchive", made[:1]))
    assert await states(database, made[:1]) == ["enabled"]


async def test_all_that_the_filters_leave(
    person: Person, ask: Ask, made: list[Link], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All links of the list can be chosen, on whichever page they are; too many are refused as a whole."""
    page = "/links?q=Link+1"
    forms = FormsOf((await person.get(page)).text)
    fields = forms.fields_of(f"{BULK}?q=Link+1") | {"action": "archive", "all": "on"}
    question = await person.client.post(f"{BULK}?q=Link+1", data=fields)
    assert heading(question) == "Archive 1 link?"
    monkeypatch.setattr(bulk_choice, "MOST_BULK_LINKS", 2)
    refused = await ask("archive", (), all="on")
    assert refused.status_code == 422
    assert "be changed at once" in refused.text
    assert await states(database, made) == ["enabled"] * 3


async def test_tags(
    person: Person,
    ask: Ask,
    made: list[Link],
    database: Database,
    organization: TestOrganization,
    now: datetime,
) -> None:
    """A tag is put on many links and taken off again; the list shows it and filters by it, the file too."""
    assert "Add tag" not in (await person.get("/links")).text  # there is none yet
    await create_tag(database, organization.id, "Spring", None, now)
    assert heading(question := await ask("add_tag", made[:2], tag="spring")) == "Tag 2 links?"
    assert said(await confirm(person, question)) == ["2 links are tagged “spring” now."]
    again = await confirm(person, await ask("add_tag", made, tag="Spring"))
    assert said(again) == ["1 link is tagged “Spring” now.", "2 links were before."]
    await confirm(person, await ask("remove_tag", made[:1], tag="Spring"))
    page = (await person.get("/links?tag=SPRING")).text
    assert [link.link_name in page for link in made] == [False, True, True]
    assert page.count('class="tag" href="/links?tag=Spring"') == 2
    file = (await person.get("/links.csv")).text.splitlines()[1:]
    assert [",Spring," in line for line in sorted(file, key=lambda line: line.split(",")[1])] == [
        False, True, True
    ]  # fmt: skip
    unknown = await confirm(person, await ask("add_tag", made[:1], tag="Autumn"))
    assert "has a tag that was not found: Autumn" in unknown
    assert (await ask("add_tag", made, tag=" ")).status_code == 422
    assert 'class="tag"' not in (await person.get("/links?tag=nothing")).text


@pytest.mark.parametrize(("action", "status"), [("disable", 422), ("explode", 400), ("", 400)])
async def test_nothing_is_chosen(
    person: Person, ask: Ask, made: list[Link], action: str, status: int
) -> None:
    """Without a tick nothing is asked, and something that can't be done is no question either."""
    assert (await ask(action, ())).status_code == status


async def test_another_organization_s_links(
    person: Person,
    ask: Ask,
    made: list[Link],
    database: Database,
    make_organization: OrganizationFactory,
    now: datetime,
) -> None:
    """Their links are not asked about by name, and stay as they are."""
    theirs = await make_link(database, await make_organization(), "their secret", now)
    question = await ask("archive", [theirs])
    assert (question.status_code, "their secret" in question.text) == (422, False)
    fields = FormsOf((await ask("archive", made[:1])).text).fields_of(DONE) | {"links": theirs.id}
    page = (await person.client.post(DONE, data=fields)).text
    assert "their secret" not in page
    assert await states(database, [theirs]) == ["enabled"]

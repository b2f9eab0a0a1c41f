"""The pages of annotations, and where charts show these."""

from __future__ import annotations

import html
import re

import httpx
import pytest

from backend.domain.annotations.annotation import ANNOTATIONS, NotedTime
from backend.storage.driver.mongo import Database
from backend.storage.resources.things import Things
from backend.system.clock import utc_now
from tests.api.whole_links import Links
from tests.conftest import MovableClock
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization


def notes_in(page: str) -> list[str]:
    """The notes below the first chart of a page, without tags."""
    notes = re.search(r"<ol class=\"note-list\".*?</ol>", page, re.DOTALL)
    items = re.findall(r"<li.*?</li>", notes[0], re.DOTALL) if notes else []
    return [html.unescape(" ".join(re.sub(r"<[^>]*>", " ", item).split())) for item in items]


async def test_a_note_is_added_changed_and_deleted(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """Each form does what it says; a time is one of the browser's time zone."""
    person.client.cookies.set("waylink_zone", "Europe/Berlin")
    given = {"text": "Letter", "day": "2026-03-02", "time": "", "link": ""}
    added = await person.send("/annotations", "/annotations", **given)
    assert (added.status_code, added.headers["Location"]) == (303, "/annotations?notice=note-added")
    (note,) = await Things(ANNOTATIONS).list(database, organization.id)
    assert (f"{note.at:%Y-%m-%d %H:%M}", note.is_of_day) == ("2026-03-02 00:00", True)
    where = f"/annotations/{note.id}"
    changed = await person.send(where, where, **given | {"text": "Letter 2", "time": "09:30"})
    assert changed.status_code == 303
    (note,) = await Things(ANNOTATIONS).list(database, organization.id)
    assert (f"{note.at:%Y-%m-%d %H:%M}", note.is_of_day, note.text) == ("2026-03-02 08:30", False, "Letter 2")
    assert 'value="09:30"' in (await person.get(where)).text
    assert "2 Mar 2026, 09:30" in (await person.get("/annotations")).text
    assert (await person.send("/annotations", f"{where}/delete")).status_code == 303
    assert await Things(ANNOTATIONS).list(database, organization.id) == []
    assert (await person.get(where)).status_code == 404


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"text": ""}, "What happened is required."),
        ({"text": "x" * 201}, "What happened must have at most 200 characters."),
        ({"day": "soon"}, "Day must be a day such as 2027-12-31."),
        ({"day": "1999-01-01"}, "Day must be between 2012-01-01 and 2200-01-01."),
        ({"time": "9 o'clock"}, "Time must be a time such as 09:30."),
        ({"link": "0" * 8}, "Shown in must be a link of your organization."),
    ],
)
async def test_what_is_wrong_is_told(person: Person, fields: dict[str, str], sentence: str) -> None:
    """The form comes back with what was typed, and says what is wrong."""
    right = {"text": "Letter", "day": "2026-03-02", "time": "", "link": ""}
    answer = await person.send("/annotations", "/annotations", **right | fields)
    assert answer.status_code == 422
    assert sentence in html.unescape(answer.text)


async def test_charts_show_what_is_about_them(
    person: Person,
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    clock: MovableClock,
) -> None:
    """A note of a link stands in its charts and in views of everything; its changes in its own only."""
    links, today = Links(client, organization), NotedTime.of_day(clock().date())
    one, other = (await links.make(link_name="One")), (await links.make(link_name="Other"))
    for text, link in (("For all", None), ("For one", one["id"])):
        fields = {"at": today, "text": text, "link_id": link}
        await Things(ANNOTATIONS).add(database, organization.id, fields, utc_now())
    for url in ("https://b.example/", "https://c.example/"):
        changed = await links.call("PATCH", f"/{one['id']}", {"destination_url": url})
        assert changed.status_code == 200
    day = f"{clock():%-d %b %Y}"
    everything = notes_in((await person.get("/")).text)
    assert everything == [f"{day} For all", f"{day} For one (One)"]
    assert notes_in((await person.get("/?country=DE")).text) == [f"{day} For all"]
    for path in (f"/?link={one['id']}", f"/links/{one['id']}", f"/links/{one['id']}?period=day"):
        of_link = notes_in((await person.get(path)).text)
        assert of_link[:2] == everything, path
        assert re.sub(r".*: ", "", of_link[2].replace(": link", "; link")) == "destination", path
        assert "Link made; link changed 2 times: destination" in of_link[2]
    of_other = notes_in((await person.get(f"/links/{other['id']}")).text)
    assert [note.rpartition(" ")[2] for note in of_other] == ["all", "made"]

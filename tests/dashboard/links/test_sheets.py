"""Links from a spreadsheet: each row is shown with its problems, then made once, however often it is sent."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from backend.storage.driver.mongo import Database
from backend.storage.links.utm_templates import create_template
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import words
from tests.dashboard.office import Office, make_organization, make_user
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import ServiceProcess

PAGE, DONE = "/links/sheet", "/links/sheet/done"
A = "https://shop.example/a"


async def check(person: Person, text: str, **fields: str) -> httpx.Response:
    """Have a table looked at."""
    return await person.send(PAGE, PAGE, sheet=text, **fields)


async def make(person: Person, checked: httpx.Response, **fields: str) -> httpx.Response:
    """Make the links of a table that was looked at."""
    return await person.client.post(DONE, data=FormsOf(checked.text).fields_of(PAGE) | fields)


def rows(page: str) -> list[list[str]]:
    """The cells of the table's rows."""
    body = page.rpartition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [words(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
        for row in body.split("<tr")[1:]
    ]


async def test_looked_at_and_made(person: Person, database: Database, organization: TestOrganization) -> None:
    """Problems stand at their cells; good rows are made with template and tags, bad ones come back."""
    await create_template(database, organization.id, "Mail", {"utm_source": "mail"}, utc_now())
    text = f"Destination\tName\tPath\tNotes\n{A}\tKites\tkites\tx\nftp://b\tB\tkites\t\n{A}\tC\tkites\t"
    checked = await check(person, text, template="Mail", tags="New, Kites")
    assert checked.status_code == 200
    first, second, third = rows(checked.text)
    assert first == ["2", f"{organization.domain}/kites source mail", A, "Kites", "kites", "x"]
    assert second[1] == "Left out"
    assert second[2].startswith("ftp://b Destination must be")
    assert third[4] == "kites Path is already in use on this domain."
    assert "1 link can be made" in words(checked.text)
    assert await database["links"].count_documents({"org_id": organization.id}) == 0
    done = await make(person, checked)
    assert [row[3] for row in rows(done.text)] == [
        "Made", second[2].removeprefix("ftp://b "), "Path is already in use on this domain."
    ]  # fmt: skip
    [stored] = await database["links"].find({"org_id": organization.id}).to_list(None)
    assert (stored["path"], stored["utm"]["utm_source"], len(stored["tag_ids"])) == ("kites", "mail", 2)
    refused = FormsOf(done.text).fields_of(PAGE)
    assert refused["sheet"].strip() == f"Destination\tName\tPath\tNotes\nftp://b\tB\tkites\t\n{A}\tC\tkites"


async def test_nothing_is_made_twice(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """The same form again, and the same table on another day; equal rows of one table are two links."""
    text = f"{A}\tKites\n{A}\tKites"
    checked = await check(person, text)
    assert [row[3] for row in rows((await make(person, checked)).text)] == ["Made", "Made"]
    ids = [link["_id"] async for link in database["links"].find({"org_id": organization.id})]
    for again in (checked, await check(person, text)):
        answer = (await make(person, again)).text
        assert [row[3] for row in rows(answer)] == ["Made before", "Made before"]
        assert all(f"/links/{link_id}" in answer for link_id in ids)
    assert len(ids) == await database["links"].count_documents({"org_id": organization.id}) == 2
    assert "can be made" in words((await check(person, f"{text}\n{A}\tOther")).text)


async def test_only_what_was_looked_at(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """A changed table, template or column is shown again first; another table has columns of its own."""
    checked = await check(person, f"Destination\tNotes\n{A}\tKites")
    for changed in ({"sheet": f"{A}b"}, {"tags": "x"}, {"column-1": "link_name"}):
        answer = await make(person, checked, **changed)
        assert (answer.status_code, "nothing was made" in answer.text) == (422, True)
    assert await database["links"].count_documents({"org_id": organization.id}) == 0
    fields = FormsOf(checked.text).fields_of(PAGE)
    renamed = await person.client.post(PAGE, data=fields | {"column-1": "link_name"})
    assert rows((await make(person, renamed)).text)[0][1] == "Kites"
    other = await person.client.post(PAGE, data=fields | {"sheet": f"Name\tDestination\nB\t{A}"})
    assert "1 link can be made" in words(other.text)
    twice = await person.client.post(PAGE, data=fields | {"column-1": "destination_url"})
    assert (twice.status_code, "are taken for the same" in twice.text) == (422, True)


async def test_what_is_no_table(person: Person) -> None:
    """It is said, and the text is kept."""
    for text, problem in (
        ("", "There is no row in it"),
        ("\n".join([A] * 1001), "at most 1,000 are possible"),
    ):
        answer = await check(person, text)
        assert answer.status_code == 422
        assert problem in answer.text
    assert FormsOf(answer.text).fields_of(PAGE)["sheet"].count(A) == 1001


async def test_domains_of_others(person: Person, make_organization: OrganizationFactory) -> None:
    """A row can't be for another organization's domain."""
    theirs = await make_organization()
    checked = await check(person, f"Destination\tDomain\n{A}\t{theirs.domain}")
    assert "is not configured for the organization" in checked.text
    assert "can be made" in words(checked.text)
    assert "Make 0" not in words(checked.text)


def test_a_file(page: Page, running: ServiceProcess, tmp_path: Path) -> None:
    """A file of Excel's, in the code page of Windows, is read by the browser and looked at at once."""
    org = make_organization(running, "Sheets")
    domain = f"go.{uuid.uuid4().hex[:8]}.localhost"
    running.command("domain", "add", domain, "--org", org)
    office = Office(running.base_url, make_user(running, org), {})
    file = tmp_path / "links.csv"
    file.write_bytes(f"Destination;Name;Path\r\n{A};Größe;groesse\r\n".encode("cp1252"))
    office.open_session(page)
    page.goto(f"{office.base_url}{PAGE}")
    page.locator("#sheet-file").set_input_files(file)
    expect(page.get_by_role("cell", name="Größe")).to_be_visible()
    page.get_by_role("button", name="Make 1 link").click()
    expect(page.get_by_role("link", name="Größe")).to_be_visible()
    expect(page.get_by_text(f"{domain}/groesse").first).to_be_visible()

"""The pages for tags and UTM templates, and both in the form of a link."""

from __future__ import annotations

import html
import re
import uuid
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Page, expect

from backend.storage.driver.mongo import Database
from backend.storage.links.tags import change_tag, create_tag, list_tags
from backend.storage.links.utm_templates import create_template, list_templates
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.api.whole_links import Links
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization
from tests.processes.service_process import ServiceProcess


@dataclass(frozen=True, slots=True)
class Desk:
    """A person at the dashboard, and what is stored of the organization."""

    person: Person
    database: Database
    organization: TestOrganization

    async def send(self, page: str, path: str, **fields: str) -> httpx.Response:
        """Send the form of a page."""
        return await self.person.send(page, path, **fields)

    async def tags(self) -> dict[str, str]:
        """Names and colours of all tags."""
        return {tag.name: tag.color for tag in await list_tags(self.database, self.organization.id)}

    async def tag_id(self, name: str) -> str:
        """The id of a tag, which is made if there is none."""
        for tag in await list_tags(self.database, self.organization.id):
            if tag.name == name:
                return tag.id
        return (await create_tag(self.database, self.organization.id, name, None, utc_now())).id


@pytest.fixture
def links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The links of this test's organization, over REST."""
    return Links(client, organization)


@pytest.fixture
def desk(person: Person, database: Database, organization: TestOrganization) -> Desk:
    """A person of this test's organization."""
    return Desk(person, database, organization)


async def test_a_tag_is_made_changed_and_deleted(desk: Desk) -> None:
    """Each form does what it says, and leads back to the list."""
    made = await desk.send("/tags", "/tags", name="Spring", color="#ff8800")
    assert (made.status_code, made.headers["Location"]) == (303, "/tags?notice=tag-made")
    where = f"/tags/{await desk.tag_id('Spring')}"
    assert 'value="#ff8800"' in (await desk.person.get(where)).text
    assert (await desk.send(where, where, name="Summer", color="#2f9e44")).status_code == 303
    assert await desk.tags() == {"Summer": "#2f9e44"}
    assert (await desk.send("/tags", f"{where}/delete")).status_code == 303
    assert await desk.tags() == {}
    assert (await desk.person.get(where)).status_code == 404


@pytest.mark.parametrize(
    ("name", "color", "sentence"),
    [
        ("", "#ff8800", "Name is required."),
        ("a,b", "#ff8800", "Name must not contain a comma."),
        ("MAIL", "#ff8800", "Name is that of another tag."),
        ("x", "puce", "Colour must be a colour such as #2f6fde"),
    ],
)
async def test_what_is_wrong_with_a_tag_is_told(desk: Desk, name: str, color: str, sentence: str) -> None:
    """At its field, on the page that it was sent from, whether the tag is new or not."""
    await desk.tag_id("mail")
    other = f"/tags/{await desk.tag_id('other')}"
    for page in ("/tags", other):
        answer = await desk.send(page, page, name=name, color=color)
        assert answer.status_code == 422
        assert sentence in html.unescape(answer.text)
    assert (await desk.tags()).keys() == {"mail", "other"}


async def test_a_template_is_made_changed_and_deleted(desk: Desk) -> None:
    """Each form does what it says; a name is needed, and once only."""
    made = await desk.send("/templates", "/templates", name="Mail", utm_source="mail", utm_medium="")
    assert made.status_code == 303
    again = await desk.send("/templates", "/templates", name="MAIL")
    assert (again.status_code, "Name is that of another template." in again.text) == (422, True)
    (template,) = await list_templates(desk.database, desk.organization.id)
    where = f"/templates/{template.id}"
    assert (await desk.send(where, where, name="Letter", utm_source="", utm_term="x")).status_code == 303
    (template,) = await list_templates(desk.database, desk.organization.id)
    assert (template.name, template.utm) == ("Letter", {"utm_term": "x"})
    assert (await desk.send("/templates", f"{where}/delete")).status_code == 303
    assert await list_templates(desk.database, desk.organization.id) == []


async def test_a_new_link_gets_tags_and_a_template(desk: Desk, links: Links) -> None:
    """Ticked tags, written ones, of which new ones are made, and the template where a field is empty."""
    await desk.tag_id("Spring")
    await create_template(
        desk.database, desk.organization.id, "Mail", {"utm_source": "mail", "utm_medium": "email"}, utc_now()
    )
    fields = {
        "domain": desk.organization.domain,
        "destination_url": "https://shop.example/",
        "link_name": "Sale",
        f"tag-{await desk.tag_id('Spring')}": "on",
        "more_tags": "shops/Berlin, spring ,",
        "utm_template": "Mail",
        "utm_medium": "letter",
    }
    answer = await desk.send("/links/new", "/links/new", **fields)
    assert answer.status_code == 303, answer.text
    (link,) = await links.list()
    assert link["tags"] == ["Spring", "shops/Berlin"]
    assert (link["utm_source"], link["utm_medium"]) == ("mail", "letter")
    page = (await desk.person.get(f"/links/{link['id']}")).text
    assert 'href="/links?tag=shops/Berlin"' in page
    refused = await desk.send(
        "/links/new", "/links/new", **fields | {"more_tags": "a//b", "utm_template": ""}
    )
    assert (refused.status_code, "More tags must not have an empty part" in refused.text) == (422, True)
    gone = await desk.send("/links/new", "/links/new", **fields | {"utm_template": "none"})
    assert (gone.status_code, "Template was not found: none." in gone.text) == (422, True)


async def test_a_form_changes_the_tags_that_were_ticked_or_not(desk: Desk, links: Links) -> None:
    """What others changed while it was open stays as they left it."""
    ids = {name: await desk.tag_id(name) for name in ("a", "b", "c", "d")}
    link = await links.make(tags=["a", "b"])
    where = f"/links/{link['id']}/edit"
    opened = (await desk.person.get(where)).text
    assert re.findall(r'name="tag-([^"]+)" value="on" checked', opened) == [ids["a"], ids["b"]]
    await links.call("PATCH", f"/{link['id']}", {"add_tags": ["d"]})
    await change_tag(desk.database, desk.organization.id, "b", new_name="B2")
    fields = FormsOf(opened).fields_of(where) | {f"tag-{ids['c']}": "on"}
    del fields[f"tag-{ids['a']}"]
    assert (await desk.person.client.post(where, data=fields)).status_code == 303
    assert (await links.get(link["id"]))["tags"] == ["B2", "d", "c"]


async def test_a_duplicate_is_made_by_the_form(desk: Desk, links: Links) -> None:
    """The form shows the link's fields and tags; what it does not show is copied as well."""
    await desk.tag_id("a")
    link = await links.make(tags=["a"], utm_source="mail", expires_at="2100-01-01T00:00:00Z", external_id="x")
    assert f'href="/links/new?copy={link["id"]}"' in (await desk.person.get(f"/links/{link['id']}")).text
    page = f"/links/new?copy={link['id']}"
    form = (await desk.person.get(page)).text
    assert 'value="Copy of Sale"' in form
    assert 'value="mail"' in form
    fields = {
        "copy": link["id"],
        "domain": desk.organization.domain,
        "destination_url": "https://shop.example/other",
        "link_name": "Copy",
        "utm_source": "letter",
        f"tag-{await desk.tag_id('a')}": "on",
    }
    assert (await desk.send(page, "/links/new", **fields)).status_code == 303
    (copy,) = [listed for listed in await links.list() if listed["id"] != link["id"]]
    names = ("link_name", "destination_url", "tags", "utm_source", "expires_at", "external_id")
    assert [copy[name] for name in names] == [
        "Copy", "https://shop.example/other", ["a"], "letter", "2100-01-01T00:00:00Z", None,
    ]  # fmt: skip


def test_a_template_fills_the_form_at_once(running: ServiceProcess, page: Page) -> None:
    """In a browser: it is seen in its fields, what was typed stays, and another one takes its place."""
    org = make_organization(running, "Acme")
    running.command("domain", "add", f"go.{uuid.uuid4().hex[:8]}.localhost", "--org", org)
    headers = {"API-KEY": make_key(running, org, "rest")}
    for body in (
        {"name": "Mail", "utm_source": "mail", "utm_medium": "email"},
        {"name": "Paper", "utm_source": "paper", "utm_term": '"x"'},
    ):
        url = f"{running.base_url}{API}/utm-templates"
        assert httpx.post(url, json=body, headers=headers, timeout=60).status_code == 201
    Office(running.base_url, make_user(running, org), {}).open_session(page)
    page.goto(f"{running.base_url}/links/new")
    page.get_by_text("Campaign (UTM)").click()
    page.locator("#utm_campaign").fill("spring")
    template = page.get_by_label("Template")
    template.select_option("Mail")
    fields = [page.locator(f"#utm_{name}") for name in ("source", "medium", "campaign", "term")]
    expect(fields[1]).to_have_value("email")
    fields[1].fill("letter")
    template.select_option("Paper")
    expect(fields[3]).to_have_value('"x"')
    assert [input_field.input_value() for input_field in fields] == ["paper", "letter", "spring", '"x"']
    # What the fields show is what is stored: the template is not sent beside them.
    assert template.get_attribute("name") is None

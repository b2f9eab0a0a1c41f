"""Links: the list with its search, making, changing, enabling and disabling."""

from __future__ import annotations

import asyncio
import html
import re
from typing import Any

import httpx
import pytest
from markupsafe import escape

from backend.dashboard.links.editing.tags import MORE
from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.accounts.domains import insert_domain
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link, find_link_at
from backend.system.clock import utc_now
from tests.api.link_calls import create, info, link_body
from tests.conftest import OrganizationFactory
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization


def new_link(organization: TestOrganization, **fields: str) -> dict[str, str]:
    """What a person types into the form of a new link."""
    return {
        "domain": organization.domain,
        "destination_url": "https://shop.example/",
        "link_name": "Sale",
    } | fields


async def path_of_new(person: Person, organization: TestOrganization, **fields: str) -> str:
    """Make a link by the form; the address of its page."""
    answer = await person.send("/links/new", "/links/new", **new_link(organization, **fields))
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"].partition("?")[0]


async def test_a_form_begins_with_the_domain_that_people_use(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """That of the newest link that a person made; without any, of anybody's; else the first one."""
    other = f"a-{organization.domain}"
    await insert_domain(database, other, organization.id, utc_now())

    async def chosen() -> list[str]:
        forms = [(await person.get(path)).text for path in ("/links/new", "/links/sheet")]
        return re.findall(r'<option value="([^"]*localhost)" selected>', "".join(forms))

    assert await chosen() == [other, other]
    await create(client, organization)
    assert await chosen() == [organization.domain, organization.domain]
    await path_of_new(person, organization, domain=other)
    await create(client, organization)
    assert await chosen() == [other, other]


async def test_a_link_is_made_as_a_user_s(
    person: Person, organization: TestOrganization, database: Database, client: httpx.AsyncClient
) -> None:
    """The link works, has every field of the form, and counts as made by a user."""
    fields = {
        "selected_path": "spring/sale",
        "ios_behavior": "2",
        "utm_source": "newsletter",
        "social_title": "Spring",
        "social_description": "one\r\ntwo",
        "desktop_url": "https://shop.example/desktop",
        "custom_data": '{"size": 9}',
    }
    where = await path_of_new(person, organization, **fields)
    link = await find_link_at(database, organization.domain, "spring/sale", organization.id)
    assert link is not None
    assert where == f"/links/{link.id}"
    assert (link.created_by, link.ios_behavior, link.android_behavior) == ("api_user", 2, 1)
    assert (link.utm, link.custom_data) == ({"utm_source": "newsletter"}, {"size": 9})
    assert link.social == {"social_title": "Spring", "social_description": "one\ntwo"}
    assert link.fallbacks == {"desktop_url": "https://shop.example/desktop"}
    listed = await client.get(
        "/serviceCore/pa/v1/links/page?createdBy=api_user", headers=organization.headers
    )
    assert [listed_link["id"] for listed_link in listed.json()["links"]] == [link.id]


async def stored(database: Database, page: str, organization: TestOrganization) -> Link:
    """The link of the page with this address."""
    link = await find_link(database, LinkId(page.rpartition("/")[2]), organization.id)
    assert link is not None
    return link


async def test_a_path_is_made_up(person: Person, organization: TestOrganization, database: Database) -> None:
    """Without a path, the link has one of six characters."""
    where = await path_of_new(person, organization)
    assert len((await stored(database, where, organization)).path) == 6


WRONG = (
    ("destination_url", "", "Destination is required."),
    ("destination_url", "javascript:alert(1)", "Destination must be an absolute http or https URL."),
    ("link_name", "", "Name is required."),
    ("link_name", "x" * 1025, "Name must have at most 1024 characters."),
    ("selected_path", "a b", "Path must be segments of letters"),
    ("selected_path", "robots.txt", "Path must not be robots.txt, which is reserved."),
    ("selected_path", "taken", "Path is already in use on this domain."),
    ("domain", "", "Domain is required."),
    ("domain", "go.someone.else", "Domain is not one of this organization"),
    ("ios_behavior", "3", "On iPhone and iPad must be 1 (open in browser) or 2 (open in app)."),
    ("social_image_url", "data:x", "Address of an image must be an absolute http or https URL."),
    ("custom_data", "[1]", "Custom data must be a JSON object"),
    ("custom_data", "{", "Custom data must be a JSON object such as"),
    ("utm_source", "a\x00b", "Source must not contain control characters."),
)


async def test_what_is_wrong_stands_at_its_field(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient
) -> None:
    """The form comes again with what was typed, and says at the field which rule it breaks."""
    await create(client, organization, selected_path="taken")
    fields = FormsOf((await person.get("/links/new")).text).fields_of("/links/new")
    for field, value, sentence in WRONG:
        typed = fields | new_link(organization, **{field: value})
        answer = await person.client.post("/links/new", data=typed)
        assert answer.status_code == 422, sentence
        text = html.unescape(answer.text)
        assert sentence in text
        assert f'aria-describedby="{field}-problem' in text, sentence
        assert f'<a href="#{field}">' in text, sentence
        if field != "destination_url":
            assert 'value="https://shop.example/"' in text, sentence


async def test_every_problem_is_told_at_once(person: Person, organization: TestOrganization) -> None:
    """Nobody mends a form one field after the other."""
    fields = new_link(organization, destination_url="x", link_name="", selected_path="/")
    answer = await person.send("/links/new", "/links/new", **fields)
    assert "3 fields need a change." in answer.text


async def test_a_search_for_what_no_link_has(person: Person, organization: TestOrganization) -> None:
    """A search finds nothing, and is no fault of the service's, whatever is searched for."""
    await path_of_new(person, organization, selected_path="p")
    for text in ("%00", "a%00b", "%ED%A0%80", "(", "%5C", "%E2%80%AE"):
        answer = await person.get(f"/links?q={text}")
        assert answer.status_code == 200, text
        assert f"{organization.domain}/p" not in answer.text, text


async def test_a_link_that_leads_to_itself(person: Person, organization: TestOrganization) -> None:
    """It is refused at the field that leads back."""
    fields = new_link(organization, selected_path="me", destination_url=f"https://{organization.domain}/me")
    answer = await person.send("/links/new", "/links/new", **fields)
    assert answer.status_code == 422
    assert "must not lead back" in answer.text


async def test_a_link_is_changed(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient, database: Database
) -> None:
    """What the form holds is what the link has afterwards: changed, cleared, and the rest as it was."""
    where = await path_of_new(
        person, organization, selected_path="p", utm_source="a", utm_term="b", custom_data='{"a": "ä"}'
    )
    answer = await person.send(f"{where}/edit", f"{where}/edit", link_name="Other", utm_source="")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{where}?notice=link-changed")
    link = await find_link_at(database, organization.domain, "p", organization.id)
    assert link is not None
    assert (link.link_name, link.utm, link.custom_data) == ("Other", {"utm_term": "b"}, {"a": "ä"})
    shown = await info(client, organization, f"https://{organization.domain}/p")
    assert shown["link_name"] == "Other"


async def test_two_people_change_a_link_at_once(person: Person, link: Link, database: Database) -> None:
    """Each with a tag that is new, which is stored first: the second sees what the first has stored."""
    path = f"/links/{link.id}/edit"
    fields = FormsOf((await person.get(path)).text).fields_of(path)
    changes = [{"link_name": name, MORE: name} for name in ("Theirs", "Mine")]
    answers = await asyncio.gather(*(person.client.post(path, data=fields | change) for change in changes))
    assert sorted(answer.status_code for answer in answers) == [303, 409]
    stored = await find_link(database, link.id, link.org_id)
    kept = changes[[answer.status_code for answer in answers].index(303)]
    assert stored
    assert (stored.link_name, len(stored.tag_ids)) == (kept["link_name"], 1)


async def test_a_link_gets_a_signed_destination(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Nothing is added to it, although the box that says so was not ticked; the box can say otherwise."""
    where = await path_of_new(person, organization, selected_path="signed")
    for url, is_untouched in (
        ("https://b.example/f?X-Amz-Signature=ab", True),
        ("https://b.example/", False),
    ):
        answer = await person.send(f"{where}/edit", f"{where}/edit", destination_url=url)
        assert answer.status_code == 303
        link = await find_link_at(database, organization.domain, "signed", organization.id)
        assert link
        assert link.adds_link_id is not is_untouched
    await person.send(f"{where}/edit", f"{where}/edit", leaves_untouched="true", query_precedence="visitor")
    link = await find_link_at(database, organization.domain, "signed", organization.id)
    assert link
    assert (link.adds_link_id, link.query_precedence) == (False, "visitor")


async def test_a_change_that_breaks_a_rule(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Nothing is changed, and the form says what is wrong."""
    where = await path_of_new(person, organization)
    answer = await person.send(f"{where}/edit", f"{where}/edit", link_name="Other", destination_url="x")
    assert answer.status_code == 422
    assert "Destination must be an absolute http or https URL." in answer.text
    assert (await stored(database, where, organization)).link_name == "Sale"


async def test_a_link_is_disabled_enabled_and_archived(
    person: Person, organization: TestOrganization, client: httpx.AsyncClient
) -> None:
    """The buttons on its page turn it off and on; visitors notice.

    Archived, it is listed apart and has no button to enable it; unarchived, it is as it was before.
    """
    short_url = await create(client, organization, selected_path="old", link_name="Old sale")
    await create(client, organization, link_name="New sale")
    where = f"/links/{(await info(client, organization, short_url))['id']}"
    await person.send(where, f"{where}/status")
    assert (await info(client, organization, short_url))["is_enabled"] is False
    page = await person.get(f"{where}?notice=link-disabled")
    assert "The link is disabled: visitors see an error page." in page.text
    await person.submit(page, f"{where}/status")
    assert (await info(client, organization, short_url))["is_enabled"] is True
    answer = await person.submit(page, f"{where}/archive", is_archived="true")
    assert answer.headers["Location"] == f"{where}?notice=link-archived"
    page = await person.get(where)
    assert ">Unarchive</button>" in page.text
    assert f"{where}/status" not in page.text
    in_use, archived = await person.get("/links"), await person.get("/links?state=archived")
    assert ("New sale" in in_use.text, "Old sale" in in_use.text) == (True, False)
    assert ("New sale" in archived.text, "Old sale" in archived.text) == (False, True)
    assert "Old sale" in (await person.get("/links?state=archived&q=old")).text
    await person.submit(page, f"{where}/archive", is_archived="false")
    assert (await info(client, organization, short_url))["is_enabled"] is True


async def test_the_search(person: Person, organization: TestOrganization, client: httpx.AsyncClient) -> None:
    """Text in a name, path or destination in any case, or a short URL; nothing in it is a pattern."""
    bodies: list[dict[str, Any]] = [
        {"link_name": "Spring letter", "selected_path": "a"},
        {"link_name": "Landing", "selected_path": "spring"},
        {"link_name": "Autumn", "selected_path": "fall", "destination_url": "https://shop.example/kites"},
        {"link_name": "'\"<b>", "selected_path": "z"},
    ]
    for body in bodies:
        await create(client, organization, **body)
    for text, matching in (
        ("SPRING", ["Spring letter", "Landing"]),
        ("letter", ["Spring letter"]),
        ("/kites", ["Autumn"]),
        (f"https://{organization.domain}/fall?x=1", ["Autumn"]),
        (".*", []),
        ("$where", []),
        ("'\"<b>", ["'\"<b>"]),
    ):
        answer = await person.client.get("/links", params={"q": text})
        names = [body["link_name"] for body in bodies if f">{escape(body['link_name'])}</a>" in answer.text]
        assert sorted(names) == sorted(matching), text


async def test_the_domains_offered_are_the_organization_s(
    person: Person, organization: TestOrganization, make_organization: OrganizationFactory
) -> None:
    """A new link's form offers no domain of another organization."""
    other = await make_organization()
    page = (await person.get("/links/new")).text
    assert organization.domain in page
    assert other.domain not in page
    body = link_body(other)
    answer = await person.send("/links/new", "/links/new", **body)
    assert answer.status_code == 422


@pytest.mark.parametrize("kind", ["svg", "png"])
async def test_the_qr_code(person: Person, organization: TestOrganization, kind: str) -> None:
    """The image, shown in the page or as a file under the link's path; other kinds there are none."""
    where = await path_of_new(person, organization, selected_path="a/b")
    shown = await person.get(f"{where}/qr.{kind}")
    assert shown.headers["Content-Type"].startswith("image/")
    assert "Content-Disposition" not in shown.headers
    kept = await person.get(f"{where}/qr.{kind}?download=1")
    assert kept.headers["Content-Disposition"] == f'attachment; filename="a-b.{kind}"'
    assert (await person.get(f"{where}/qr.gif")).status_code == 404

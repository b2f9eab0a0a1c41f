"""The form of what visitors of a domain see, and the picture beside it."""

from __future__ import annotations

from html import unescape

from backend.domain.domains.settings import OwnText, PageLanguage, PageText
from backend.storage.accounts.domain_settings import find_domain_settings
from backend.storage.driver.mongo import Database
from tests.conftest import OrganizationFactory
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization

TITLE, TEXT = "texts.de.not_found.title", "texts.de.not_found.text"


async def test_settings_are_saved_and_shown_again(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """All of the form; what breaks a rule is told beside its field, and nothing is saved then."""
    page = f"/domains/{organization.domain}/look"
    given = {
        "root_url": "https://shop.example/",
        "brand.name": "Kites",
        "brand.color": "#Abc",
        TITLE: "Nichts da",
        TEXT: "Hier ist nichts.",
        "robots_txt": "User-agent: *\r\nDisallow: /",
        "forwards_path": "true",
        "ignores_case": "true",
    }
    answer = await person.send(page, page, **given)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{page}?notice=domain-saved")
    stored = await find_domain_settings(database, organization.id, organization.domain)
    assert (stored.root_url, stored.brand.color) == ("https://shop.example/", "#aabbcc")
    assert stored.texts[PageLanguage.GERMAN][OwnText.NOT_FOUND] == PageText("Nichts da", "Hier ist nichts.")
    assert (stored.forwards_path, stored.ignores_case) == (True, True)
    shown = FormsOf((await person.get(page)).text).fields_of(page)
    assert {name: shown[name] for name in given} == given | {
        "brand.color": "#aabbcc",
        "robots_txt": "User-agent: *\nDisallow: /\n",
    }
    wrong = {"root_url": f"https://{organization.domain}/", "brand.name": "Others", TEXT: ""}
    refused = await person.send(page, page, **given | {"brand.color": "red", TEXT: ""})
    text = unescape(refused.text)
    assert refused.status_code == 422
    assert "Colour must be a colour in hexadecimal digits" in text
    assert "Text field is required" in text
    refused = await person.send(page, page, **given | {"root_url": wrong["root_url"]})
    assert "Root address must not lead to a link domain of this service" in unescape(refused.text)
    assert await find_domain_settings(database, organization.id, organization.domain) == stored


async def test_the_picture_is_the_page_itself(person: Person, organization: TestOrganization) -> None:
    """As the form says, which stays unsaved; what breaks a rule is as it was. Nothing can be sent from it."""
    page, picture = (f"/domains/{organization.domain}/{name}" for name in ("look", "picture"))
    form = await person.get(page)
    assert form.headers["content-security-policy"].endswith("; frame-src 'self'")
    fields = {"brand.name": "Kites & more", "brand.background": "#10233f", "brand.color": "no color"}
    texts = {"texts.fr.password.title": "Mot secret", "texts.fr.password.text": "Le voici."}
    sent = FormsOf(form.text).fields_of(page) | fields
    drawn = await person.client.post(picture, data=sent | texts | {"language": "fr", "picture": "password"})
    assert drawn.status_code == 200
    assert '<html lang="fr">' in drawn.text
    assert "<h1>Mot secret</h1>" in drawn.text
    assert "Kites" not in drawn.text  # of a brand with a wrong colour nothing is shown
    sent |= {"language": "xx", "picture": "nothing", "brand.color": ""}
    drawn = await person.client.post(picture, data=sent)
    assert "Kites &amp; more" in drawn.text
    assert "--ground: #10233f" in drawn.text
    assert "This link does not work" in drawn.text
    policy = drawn.headers["content-security-policy"]
    assert "form-action 'none'; frame-ancestors 'self'" in policy
    assert "script-src" not in policy
    assert drawn.headers["x-frame-options"] == "SAMEORIGIN"
    now = await person.get(picture)
    assert "Kites" not in now.text


async def test_domains_of_others_are_not_there(
    person: Person, make_organization: OrganizationFactory, database: Database
) -> None:
    """Neither to see nor to change."""
    other = await make_organization()
    own = await person.get("/domains")
    assert other.domain not in own.text
    for name in ("look", "picture", "orphans"):
        assert (await person.get(f"/domains/{other.domain}/{name}")).status_code == 404
    token = FormsOf((await person.get("/settings")).text).fields_of("/settings/password")
    sent = token | {"brand.name": "Mine"}
    for name in ("look", "picture", "orphans/forget"):
        answer = await person.client.post(f"/domains/{other.domain}/{name}", data=sent)
        assert answer.status_code == 404
    assert (await find_domain_settings(database, other.id, other.domain)).brand.name is None

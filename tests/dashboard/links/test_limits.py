"""The limits of a link in the dashboard's forms and on its page."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.domain.ids import LinkId
from backend.domain.links.links import Link
from backend.storage.accounts.users.passwords import is_password
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization

PASSWORD = " kites & ropes "


def form(organization: TestOrganization, **fields: str) -> dict[str, str]:
    """What a person types into the form."""
    return {
        "domain": organization.domain,
        "destination_url": "https://shop.example/",
        "link_name": "Sale",
        "limits_zone": "Europe/Berlin",
    } | fields


async def stored(database: Database, address: str, organization: TestOrganization) -> Link:
    """The link of this page."""
    link = await find_link(database, LinkId(address.rpartition("/")[2]), organization.id)
    assert link is not None
    return link


async def test_limits_are_set_and_changed(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """Times are those of the zone that the form names; what is emptied is taken away, but a password only
    where that is asked for, and it is never shown. A link outside its time says so on its page."""
    answer = await person.send(
        "/links/new",
        "/links/new",
        **form(organization, starts_at="2099-03-01T09:00", expires_at="2100-07-01T09:00", max_clicks="5",
               click_to_continue="true", expired_url="https://shop.example/over", password=PASSWORD),
    )  # fmt: skip
    assert answer.status_code == 303, answer.text
    where = answer.headers["Location"].partition("?")[0]
    limits = (await stored(database, where, organization)).limits
    assert limits.starts_at == datetime(2099, 3, 1, 8, tzinfo=UTC)
    assert limits.expires_at == datetime(2100, 7, 1, 7, tzinfo=UTC)
    assert (limits.max_clicks, limits.expired_url) == (5, "https://shop.example/over")
    assert limits.click_to_continue
    assert await is_password(PASSWORD, limits.password_hash, "a")
    page, edit = await person.get(where), await person.get(f"{where}/edit")
    assert ">Not started</span>" in page.text
    assert "5, 5 left; visitors press a button first" in page.text
    assert 'name="click_to_continue" value="true" checked>' in edit.text
    assert 'value="2099-03-01T08:00:00"' in edit.text
    assert PASSWORD not in page.text + edit.text
    assert str(limits.password_hash) not in page.text + edit.text
    emptied = await person.send(
        f"{where}/edit", f"{where}/edit", starts_at="", expires_at="", max_clicks="", expired_url=""
    )
    assert emptied.status_code == 303
    kept = (await stored(database, where, organization)).limits
    assert kept.by_name == {"password_hash": limits.password_hash}
    removed = form(organization, remove_password="true")
    await person.send(f"{where}/edit", f"{where}/edit", **removed)
    assert (await stored(database, where, organization)).limits.by_name == {}


WRONG: list[tuple[dict[str, str], str]] = [
    ({"starts_at": "soon"}, "Starts must be a date and a time."),
    (
        {"starts_at": "2026-03-02T09:00", "expires_at": "2026-03-01T09:00"},
        "Expires must be after starts_at.",
    ),
    ({"max_clicks": "0"}, "Number of clicks must be a whole number from 1"),
    ({"max_clicks": "many"}, "Number of clicks must be a whole number from 1"),
    ({"expired_url": "ftp://x"}, "Address afterwards must be an absolute http or https URL."),
    ({"password": "abc"}, "Password must have 4 to 1024 characters."),
]


async def test_a_limit_that_breaks_a_rule(person: Person, organization: TestOrganization) -> None:
    """It is told at its field, what was typed is kept, and nothing is stored."""
    empty = FormsOf((await person.get("/links/new")).text).fields_of("/links/new")
    for fields, problem in WRONG:
        answer = await person.client.post("/links/new", data=empty | form(organization, **fields))
        assert answer.status_code == 422, problem
        assert problem in answer.text
        for name, value in fields.items():
            assert (f'value="{value}"' in answer.text) is (name != "password"), problem

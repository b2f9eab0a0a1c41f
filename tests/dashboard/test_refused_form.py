"""The page in the place of a form that was refused: what it keeps, what it says, and where it leads."""

from __future__ import annotations

import re
from typing import Any

import pytest

from backend.dashboard.frame.saw import hashes_of
from backend.storage.accounts.users.passwords import with_password_hash
from backend.storage.driver.mongo import Database
from tests.dashboard.people import FormsOf, Person, make_user
from tests.dashboard.test_every_form import shown, switch
from tests.facts.organizations import TestOrganization

PASSWORD = "what readers are to know"


@pytest.mark.parametrize("is_of_another", [True, False])
async def test_a_password_is_typed_again(
    database: Database,
    owner: Person,
    other: TestOrganization,
    organization: TestOrganization,
    their_ids: dict[str, str],
    is_of_another: bool,
) -> None:
    """It stands nowhere in the page, which asks for it, so that nothing is saved without the password."""
    path = f"/links/{their_ids['link_id']}/edit"
    opened = await owner.get(path)
    if is_of_another:
        await switch(database, owner, organization.id)
    else:
        await owner.submit(opened, path, link_name="Theirs")
    refused = await owner.submit(opened, path, password=PASSWORD)
    assert refused.status_code == 409
    assert PASSWORD not in refused.text
    assert "Form once" not in refused.text
    assert re.search(
        r'<input id="password" name="password" type="password" value=""[^>]* required', refused.text
    )
    assert (await owner.submit(refused, path, password=PASSWORD)).status_code == 303
    link = await database["links"].find_one({"_id": their_ids["link_id"]})
    assert link
    assert link["limits"]["password_hash"]


async def test_boxes_are_compared_as_one_list(owner: Person, their_ids: dict[str, str]) -> None:
    """Ticked boxes that are stored as a list: sent twice they are stored once, and another's list is shown
    beside what was ticked."""
    rule = f"/alerts/{their_ids['rule_id']}"
    ticked = {f"mail-{owner.email}": "on", "name": "Theirs"}
    opened = await owner.get(rule)
    assert [(await owner.submit(opened, rule, **ticked)).status_code for _ in range(2)] == [303, 303]
    assert shown(await owner.submit(opened, rule, **ticked | {"name": "Mine"})) == ["Mine", "Theirs"]
    properties = "/settings/event-properties"
    opened = await owner.get("/settings")
    marked = [await owner.submit(opened, properties, **{"mark:plan": "on"}) for _ in range(2)]
    assert [answer.status_code for answer in marked] == [303, 303]
    assert shown(await owner.submit(opened, properties, **{"mark:size": "on"})) == ["size", "plan"]


async def test_long_texts_are_compared_whole(owner: Person) -> None:
    """Texts that differ only behind what the page shows of them are not called the same."""
    rules, others = "/destinations/rules", "\n".join(f"casino-{number}.example" for number in range(60))
    opened = await owner.get("/destinations")
    assert (await owner.submit(opened, rules, refused=f"{others}\ntheirs.example")).status_code == 303
    late = await owner.submit(opened, rules, refused=f"{others}\nmine.example")
    assert (late.status_code, len(shown(late))) == (409, 2)


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("/settings", "/settings"),
        ("/settings?notice=saved", "/settings?notice=saved"),
        ("/settings/name", "/settings"),
        ("/nowhere/at/all", "/"),
        ("//evil.example/settings", "/"),
    ],
)
async def test_the_way_back_is_a_page(owner: Person, came_from: str, back: str) -> None:
    """Where the form was shown by an address that only takes forms, the page above it."""
    opened = await owner.get("/settings")
    await owner.submit(opened, "/settings/name", organization_name="Theirs")
    late = FormsOf(opened.text).fields_of("/settings/name") | {"organization_name": "Mine"}
    referer = f"{owner.client.base_url}{came_from}"
    refused = await owner.client.post("/settings/name", data=late, headers={"Referer": referer})
    assert f'<a class="button" href="{back}">Begin with what is stored</a>' in refused.text
    assert (await owner.get(back)).status_code == 200


async def test_forms_of_a_list_say_what_they_saw_of_one(
    database: Database, owner: Person, other: TestOrganization
) -> None:
    """Otherwise the page of a thousand members would have a million hashes."""
    for _ in range(3):
        await make_user(database, other.id)
    forms = FormsOf((await owner.get("/members")).text).forms
    saw = [fields.get("form_saw", "") for _, fields in forms]
    assert max(map(len, saw)) == len(hashes_of({"role": ""}))


async def test_a_link_that_changes_while_a_form_is_stored(
    database: Database, owner: Person, their_ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another stores after the form was compared is not put back."""
    one, path = {"_id": their_ids["link_id"]}, f"/links/{their_ids['link_id']}/edit"
    theirs = "https://theirs.example/"

    async def hash_meanwhile(*given: Any) -> Any:
        await database["links"].update_one(one, {"$set": {"destination_url": theirs}})
        return await with_password_hash(*given)

    opened = await owner.get(path)
    monkeypatch.setattr("backend.dashboard.links.editing.change.with_password_hash", hash_meanwhile)
    late = await owner.submit(opened, path, link_name="Mine")
    assert late.status_code == 409
    assert theirs in shown(late)
    link = await database["links"].find_one(one)
    assert link
    assert link["destination_url"] == theirs
    assert (await owner.submit(late, path)).status_code == 303

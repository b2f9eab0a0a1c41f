"""The pages of funnels: made by a form without a script, shown as steps and groups, and deleted."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import httpx

from backend.storage.driver.mongo import Database
from backend.storage.funnels.saved_funnels import list_funnels
from tests.api.link_calls import create, info
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
# What a browser sends of steps that nobody touches.
BLANK = {f"{part}_{number}": "" for part in ("kind", "event", "field", "value") for number in range(1, 9)}
STEPS = BLANK | {
    "kind_1": "click", "field_1": "campaign", "value_1": "spring",
    "kind_2": "", "kind_3": "event", "event_3": "added_to_cart", "kind_6": "conversion",
}  # fmt: skip


def words(page: httpx.Response) -> str:
    """The text of a page in one line."""
    text = re.sub(r"<[^>]+>", " ", page.text.partition("<main")[2])
    return " ".join(html.unescape(text).split())


async def test_a_funnel_is_made_shown_split_and_deleted(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Steps that are left empty are none; each step says how many went on, and each group too."""
    url = await create(client, organization, utm_campaign="spring", link_name="Letter")
    link_id = (await info(client, organization, url))["id"]
    buyer, looker = Visitor(client, organization), Visitor(client, organization)
    await buyer.results(
        check(ago=3 * HOUR, cl_link_id=link_id),
        call("event", name="added_to_cart", ago=2 * HOUR),
        conversion(ago=HOUR),
    )
    await looker.results(check(ago=HOUR, cl_link_id=link_id))

    made = await person.send("/funnels", "/funnels", name="Checkout", within_days="7", **STEPS)
    assert made.status_code == 303, words(made)
    [saved] = await list_funnels(database, organization.id)
    assert [step.kind for step in saved.funnel.steps] == ["click", "event", "conversion"]
    path = f"/funnels/{saved.id}"
    assert made.headers["Location"] == f"{path}?notice=funnel-made"
    page = words(await person.get(f"{path}?by=link"))
    assert "1. Click campaign: spring 2 devices. 1 stopped here." in page
    assert "2. Event added_to_cart 1 device, 50 % of the step before" in page
    assert "Half of them took at most 1 h, nine of ten 1 h." in page
    assert "50 % went all the way, half of them within 2 h." in page
    assert "Letter 2 1 50 % 1 100 % 50 % 1. Click" in page
    assert "in this order, within 7 days" in page
    assert "Checkout click, campaign: spring" in words(await person.get("/funnels"))
    assert (await person.send("/funnels", f"{path}/delete")).status_code == 303
    assert (await person.get(path)).status_code == 404


async def test_what_is_wrong_stands_beside_its_field(person: Person) -> None:
    """The name, the days, an event's name at a click, and the missing second step; nothing is stored."""
    one = BLANK | {"name": "x", "kind_1": "click"}
    assert "What is needed: a funnel has at least two steps." in words(
        await person.send("/funnels", "/funnels", **one)
    )
    wrong = BLANK | {"name": "", "within_days": "soon", "kind_1": "click", "kind_2": "lead"}
    page = await person.send("/funnels", "/funnels", **wrong)
    assert page.status_code == 422
    assert "Name must not be empty" in words(page)
    assert "Within days must be a whole number from 1 to 365" in words(page)
    named = BLANK | {
        "name": "x",
        "within_days": "7",
        "kind_1": "click",
        "event_1": "bought",
        "kind_2": "lead",
    }
    said = "Event's name is the name of an event, which only a step of kind event has."
    assert said in words(await person.send("/funnels", "/funnels", **named))

"""The pages of funnels: made by a form without a script, shown as steps and groups, and deleted."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import httpx

from backend.dashboard.frame.once import ONCE
from backend.dashboard.funnels.form import FunnelForm
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.ids import LinkId
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links
from backend.storage.resources.things import Things
from backend.system.clock import utc_now
from tests.api.link_calls import create, info
from tests.dashboard.campaigns import clicked
from tests.dashboard.people import FormsOf, Person
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

HOUR = timedelta(hours=1)
STEPS = {
    "steps": "3",
    "kind_1": "click", "field_1": "campaign", "value_1": "spring",
    "kind_2": "event", "event_2": "added_to_cart",
    "kind_3": "conversion", "event_3": "typed before another kind was chosen",
}  # fmt: skip


def words(page: httpx.Response) -> str:
    """The text of a page in one line."""
    text = re.sub(r"<[^>]+>", " ", page.text.partition("<main")[2])
    return " ".join(html.unescape(text).split())


async def test_a_funnel_is_made_shown_split_and_deleted(
    person: Person, client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """What there is is suggested; each step says how many went on, and each group too; a change is shown."""
    url = await create(client, organization, utm_campaign="spring", link_name="Letter")
    link_id = (await info(client, organization, url))["id"]
    buyer, looker = Visitor(client, organization), Visitor(client, organization)
    await buyer.results(
        check(ago=3 * HOUR, cl_link_id=link_id),
        call("event", name="added_to_cart", ago=2 * HOUR),
        conversion(ago=HOUR),
    )
    await looker.results(check(ago=HOUR, cl_link_id=link_id))

    found = await find_links(database, [LinkId(link_id)], organization.id)
    await clicked(database, found[LinkId(link_id)], utc_now() - HOUR)
    form = (await person.get("/funnels/new")).text
    assert '<option value="added_to_cart"></option>' in form
    assert re.search(rf'<datalist id="values-link"><option value="{re.escape(url)}" label="Letter">', form)
    made = await person.send("/funnels/new", "/funnels", name="Checkout", within_days="7", **STEPS)
    assert made.status_code == 303, words(made)
    [saved] = await Things(SAVED_FUNNELS).list(database, organization.id)
    assert [step.kind for step in saved.funnel.steps] == ["click", "event", "conversion"]
    path = f"/funnels/{saved.id}"
    assert made.headers["Location"] == f"{path}?notice=funnel-made"
    shown = await person.get(f"{path}?by=link")
    page, split = words(shown), shown.text
    assert "1. Click campaign: spring 2 devices. 1 stopped here." in page
    assert "2. Event added_to_cart 1 device, 50 % of the step before" in page
    assert "Half of them took at most 1 h, nine of ten 1 h." in page
    assert "50 % went all the way, half of them within 2 h." in page
    assert "Letter 2 1 50 % 1 100 % 50 % 1. Click" in page
    assert "in this order, within 7 days" in page
    went, stopped_here = (f"{path}/people?by=link&step={step}" for step in ("2", "1&of=stopped"))
    led_to = {
        html.unescape(address).replace("compare=none&", "") for address in re.findall('href="([^"]+)"', split)
    }
    assert {went, stopped_here} <= led_to
    assert "1 device. " in words(bought := await person.get(went))
    assert "Letter 3. Conversion" in words(bought)
    stopper = words(await person.get(stopped_here))
    assert f"Device {str(looker.device_id)[:8]}…" in stopper
    assert "1. Click" in stopper
    file = (await person.get(stopped_here.replace("/people?", "/people.csv?"))).text
    heads, *lines = [line.split(",") for line in file.splitlines()]
    assert heads[:2] + heads[-3:] == ["customer_id", "device_id", "step_1", "step_2", "step_3"]
    assert [(line[1], bool(line[5]), line[6:]) for line in lines] == [(str(looker.device_id), True, ["", ""])]
    of_group = await person.get(f"{path}/people?by=link&step=1&group=%3D{link_id}")
    assert "2 devices. " in words(of_group)
    assert "0 devices. " in words(await person.get(f"{path}/people?by=link&step=1&group=-"))
    assert "Checkout click, campaign: spring" in words(await person.get("/funnels"))
    by_link = {"field_1": "link", "value_1": url, "name": "Letter to sale"}
    changed = await person.send(f"{path}/change", f"{path}/change", **by_link)
    assert changed.headers["Location"] == f"{path}?notice=funnel-changed"
    assert f'value="{url}"' in (await person.get(f"{path}/change")).text
    assert "Letter to sale click, link: Letter" in words(await person.get("/funnels"))
    assert (await person.send("/funnels", f"{path}/delete")).status_code == 303
    assert (await person.get(path)).status_code == 404


def test_steps_are_added_moved_and_removed() -> None:
    """Each with what is typed in it; two to eight, and what is not possible changes nothing."""
    form = FunnelForm.empty()
    click, conversion = form.steps
    form.act("add")
    event = form.steps[-1]
    assert (len(form.steps), event.kind) == (3, "event")
    form.act("up-3")
    assert form.steps == [click, event, conversion]
    for action in ("down-3", "up-1", "remove-9", "x"):
        form.act(action)
        assert form.steps == [click, event, conversion], action
    form.act("down-1")
    assert form.steps == [event, click, conversion]
    form.act("remove-1")
    form.act("remove-1")
    assert form.steps == [click, conversion]
    for _ in range(9):
        form.act("add")
    assert len(form.steps) == 8


async def test_buttons_send_the_form(person: Person) -> None:
    """Without a script: it comes again with what was typed, a step more or less, or in another order."""
    fields = FormsOf((await person.get("/funnels/new")).text).fields_of("/funnels")
    assert (fields["steps"], fields["kind_1"], fields["kind_2"]) == ("2", "click", "conversion")
    fields |= {
        "steps": "7",
        "event_3": "added_to_cart",
        "field_3": "country",
        "value_3": "DE",
        "name": "Mine",
    }
    fields |= {f"kind_{number}": "event" for number in range(3, 8)}
    answer = await person.client.post("/funnels", data=fields | {"act": "up-3"})
    assert (answer.status_code, "Add a step" in answer.text) == (200, True)
    moved = FormsOf(answer.text).fields_of("/funnels")
    assert [moved[f"kind_{number}"] for number in range(1, 4)] == ["click", "event", "conversion"]
    assert [moved[f"{part}_2"] for part in ("event", "field", "value")] == ["added_to_cart", "country", "DE"]
    assert (moved["name"], moved["steps"]) == ("Mine", "7")
    answer = await person.client.post("/funnels", data=moved | {"act": "x"})
    again = FormsOf(answer.text).fields_of("/funnels")
    assert (answer.status_code, again | {ONCE: moved[ONCE]}) == (200, moved)
    answer = await person.client.post("/funnels", data=moved | {"act": "down-1"})
    down = FormsOf(answer.text).fields_of("/funnels")
    assert (down["kind_1"], down["event_1"], down["kind_2"]) == ("event", "added_to_cart", "click")
    answer = await person.client.post("/funnels", data=down | {"act": "remove-1"})
    fewer = FormsOf(answer.text).fields_of("/funnels")
    assert (fewer["steps"], fewer["kind_1"], fewer["event_1"], fewer["name"]) == ("6", "click", "", "Mine")
    answer = await person.client.post("/funnels", data=moved | {"act": "add"})
    assert FormsOf(answer.text).fields_of("/funnels")["steps"] == "8"
    assert "Add a step" not in answer.text


async def test_what_is_wrong_stands_beside_its_field(person: Person) -> None:
    """The name, the days, a kind, and a link that is none of the organization's; nothing is stored."""
    wrong = {"name": "", "within_days": "soon", "field_1": "link", "value_1": "https://x.example/y"}
    page = await person.send("/funnels/new", "/funnels", **wrong, kind_2="bought")
    assert page.status_code == 422
    text = words(page)
    for problem in (
        "4 fields need a change.",
        "Name must not be empty.",
        "Within days of the first step must be a whole number from 1 to 365.",
        "The value must be the short URL of a link of yours.",
        "What must be one of click, lead, event, conversion",
    ):
        assert problem in text
    assert 'value="https://x.example/y"' in page.text
    assert "No funnel yet" in words(await person.get("/funnels"))


async def test_more_than_the_form_can_show(
    person: Person, organization: TestOrganization, database: Database
) -> None:
    """A funnel of REST with two filters in a step is not offered to be changed: one would get lost. One by a
    field that the form does not know keeps it."""
    two = {"kind": "click", "filters": {"country": ["DE"], "source": ["x"]}}
    event = {"kind": "event", "filters": {"event": ["a"]}}
    for steps, is_offered in (([two, event], False), ([event, event], True)):
        fields = {"name": "F", "steps": SAVED_FUNNELS.told["steps"].parse("steps", steps)}
        saved = await Things(SAVED_FUNNELS).add(database, organization.id, fields, utc_now())
        page = (await person.get(f"/funnels/{saved.id}/change")).text
        assert ("This funnel does not fit into the form" in page) is not is_offered
    sent = await person.send(f"/funnels/{saved.id}/change", f"/funnels/{saved.id}/change", name="G")
    assert sent.status_code == 303
    changed = await Things(SAVED_FUNNELS).get(database, organization.id, saved.id)
    assert (changed.name, changed.funnel) == ("G", saved.funnel)

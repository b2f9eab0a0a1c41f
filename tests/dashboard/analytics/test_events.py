"""What sites tell beside sales: on a page of its own, on the overview, on a link's page, and in settings."""

from __future__ import annotations

import csv
import io
import re
import uuid
from datetime import datetime, timedelta
from html import unescape
from typing import Any

from backend.domain.ids import DeviceId
from backend.domain.links.links import Link
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import parse_call
from backend.domain.visitors.sources import source_of
from backend.storage.accounts.organizations import find_event_properties, set_event_properties
from backend.storage.driver.mongo import Database
from backend.storage.sales.batches import store_batches
from tests.dashboard.campaigns import figures, make_link, rows, table
from tests.dashboard.people import Person
from tests.facts.organizations import TestOrganization

DAY = timedelta(days=1)


async def told(database: Database, link: Link, at: datetime, name: str, **metadata: Any) -> None:
    """Somebody comes by the link and does something, of which the site tells."""

    def call(kind: str, **fields: Any) -> Any:
        names = {"kind": kind, "call_id": str(uuid.uuid4()), "occurred_at": at.isoformat()}
        return parse_call(names | fields)

    visit = ArrivedCall(call("attribution"), source_of({}, link))
    event = ArrivedCall(call("event", name=name, metadata=metadata, customer_id=f"c{uuid.uuid4()}"))
    batch = Batch(link.org_id, DeviceId(str(uuid.uuid4())), at, at, (visit, event))
    await store_batches(database, [batch])


def told_properties(page: str) -> list[str]:
    """The properties that the form of the settings offers, with an asterisk if they are marked."""
    boxes = re.findall(r'name="mark:(.*?)" value="on"( checked)?.*?class="soft">(.*?)</span>', page)
    return [f"{unescape(name)}{'*' if is_marked else ''}: {events}" for name, is_marked, events in boxes]


async def test_events_wherever_people_look_for_them(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """By their names and what sites told of them, of one link or campaign, and as a file."""
    other = await make_link(database, organization, "Other", now, utm_campaign="autumn")
    assert "Events" not in figures((await person.get("/")).text)
    page = (await person.get("/events")).text
    assert figures(page) == {"Events": ("0", ""), "Identities": ("0", "")}
    assert "Mark such properties" in page
    for plan in ("pro", "pro", "<free>"):
        await told(database, link, now - DAY, "signed up", plan=plan)
    await told(database, other, now - DAY, "signed up", plan=1.0)
    await told(database, other, now - 40 * DAY, "left")
    await set_event_properties(database, organization.id, ["plan", "a&b"])

    overview = (await person.get("/")).text
    assert figures(overview)["Events"][0] == figures(overview)["Identities"][0] == "4"
    assert table(overview, "Events") == [["signed up", "4"], ["left", "0"]]
    assert 'href="/events?event=signed+up"' in overview
    of_link = (await person.get(f"/links/{link.id}")).text
    assert table(of_link, "Events") == [["signed up", "3"]]
    assert f'href="/events?link={link.id}&amp;event=signed+up"' in of_link

    page = (await person.get("/events?event=signed+up")).text
    assert figures(page).keys() == {"Events"}  # identities are no events
    assert figures(page)["Events"][0] == "4"
    assert "<free>" not in page
    assert table(page, "Properties") == [["pro", "2"], ["1", "1"], ["<free>", "1"]]
    only = (await person.get("/events?event=signed+up&event.plan=pro&chart=identities")).text
    assert figures(only)["Events"][0] == "2"
    assert "plan: <strong>pro</strong>" in only
    single = "event=signed+up&amp;event.plan=pro&amp;of=events"
    assert f'href="/sales?{single}"' in only
    assert len(rows((await person.get(f"/sales?{unescape(single)}")).text)) == 2
    shared = (await person.get(f"/reports/new?kind=sales&{unescape(single)}")).text
    assert "<dt>plan</dt><dd>pro</dd>" in shared
    file = (await person.get("/events.csv?event=signed+up&table=event.plan&compare=none")).text
    heading, *found = csv.reader(io.StringIO(file))
    assert heading == ["event.plan", "kind", "events"]
    assert sorted(found) == [["1", "", "1"], ["<free>", "", "1"], ["pro", "", "2"]]
    assert (await person.get("/events.csv?table=event.size")).status_code == 404


async def test_properties_are_marked_in_settings(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """Those that events have are offered, with their numbers; others can be typed; no more than ten."""
    await told(database, link, now - DAY, "signed up", plan="pro", **{'"': 1, "$x": 2})
    await told(database, link, now - DAY, "signed up", plan="free", seats=3)
    assert told_properties((await person.get("/settings")).text) == ["plan: 2 events", "seats: 1 event"]
    form = {"mark:plan": "on", "others": "a b, size ,"}
    answer = await person.send("/settings", "/settings/event-properties", **form)
    assert answer.headers["Location"] == "/settings?notice=event-properties-set"
    assert await find_event_properties(database, organization.id) == ("plan", "a b", "size")
    assert told_properties((await person.get("/settings")).text)[:2] == ["plan*: 2 events", "a b*: 0 events"]
    wrong = await person.send("/settings", "/settings/event-properties", others=",".join(map(str, range(11))))
    assert wrong.status_code == 422
    assert "Others must have at most 10 properties." in wrong.text
    assert await find_event_properties(database, organization.id) == ("plan", "a b", "size")

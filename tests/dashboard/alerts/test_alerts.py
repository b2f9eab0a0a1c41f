"""The page of alerts, the forms of rules, and the page on which readers stop their mails."""

from __future__ import annotations

import html
from datetime import datetime, timedelta

from backend.app import Service
from backend.domain.alerts.alert import AlertNews
from backend.domain.alerts.rule import AlertKind
from backend.domain.links.links import Link
from backend.mail.alert_mails import alert_mail
from backend.storage.accounts.organizations import get_organization
from backend.storage.alerts import alerts
from backend.storage.alerts.rules import create_rule, get_rule, list_rules
from backend.storage.driver.mongo import Database
from tests.dashboard.campaigns import clicked
from tests.dashboard.people import Person, browser
from tests.facts.fired_alerts import fire_alert
from tests.facts.organizations import TestOrganization


async def test_a_rule_is_rehearsed_made_changed_and_deleted(
    person: Person, database: Database, organization: TestOrganization, link: Link, now: datetime
) -> None:
    """What it would have sent is said before anything is stored, and for each rule in the list."""
    for week in range(1, 5):
        for hour in (-1, 0, 1):
            at = now - timedelta(days=1, weeks=week) + hour * timedelta(hours=1)
            await clicked(database, link, at, 10)
    await clicked(database, link, now - timedelta(days=1), 90)
    page = f"/alerts/new?kind=spike&link={link.id}"
    rehearsed = await person.send(page, "/alerts", action="rehearse", least="40", webhooks="")
    assert "would have sent <strong>1 alert</strong>" in rehearsed.text
    assert "90 clicks in the hour from" in rehearsed.text
    assert await list_rules(database, organization.id) == []
    refused = await person.send(page, "/alerts", factor="1", link="go.elsewhere.example/x")
    assert refused.status_code == 422
    assert "must be a whole number from 2 to 100" in refused.text
    mails = {f"mail-{person.email}": "on", "language": "de", "timezone": "Europe/Berlin"}
    assert (await person.send(page, "/alerts", name="Jump", **mails)).status_code == 303
    (rule,) = await list_rules(database, organization.id)
    assert (rule.link_id, rule.mail_to, rule.timezone) == (link.id, (person.email,), "Europe/Berlin")
    listed = (await person.get("/alerts")).text
    assert "would have sent 1 alert" in listed
    one = f"/alerts/{rule.id}"
    assert (await person.send(one, one, least="100", is_enabled="")).status_code == 303
    changed = await get_rule(database, organization.id, rule.id)
    assert (changed.thresholds["least"], changed.is_enabled, changed.mail_to) == (100, False, rule.mail_to)
    assert "would have sent <strong>0 alerts</strong>" in (await person.get(one)).text
    assert (await person.send(one, f"{one}/delete")).status_code == 303
    assert await list_rules(database, organization.id) == []


async def test_alerts_say_why_and_where_to_look(
    person: Person, database: Database, organization: TestOrganization, link: Link
) -> None:
    """Until somebody marks them as seen, the overview says that there are some."""
    await fire_alert(database, organization.id, link.id)
    assert "1 alert</a> was told and not yet seen" in (await person.get("/")).text
    page = html.unescape((await person.get("/alerts")).text)
    assert "4 of the link's 5 clicks were taken." in page
    assert f"/links/{link.id}/edit" in page
    page_of_before = await person.get("/alerts")
    later = await fire_alert(database, organization.id, None)
    after_it = {"$set": {"fired_at": later.fired_at + timedelta(minutes=1)}}
    await database[alerts.NAME].update_one({"_id": f"{organization.id}/{later.id}"}, after_it)
    await person.submit(page_of_before, "/alerts/seen")
    assert await alerts.count_not_seen(database, organization.id) == 1, "nobody has seen the later one"
    await person.send("/alerts", "/alerts/seen")
    assert await alerts.count_not_seen(database, organization.id) == 0
    assert "not yet seen" not in (await person.get("/")).text


async def test_a_reader_stops_the_mails_of_a_rule(
    service: Service, person: Person, database: Database, organization: TestOrganization, now: datetime
) -> None:
    """Without signing in; opening the page changes nothing; nobody's token stops nothing."""
    given = {"name": "Drop", "kind": AlertKind.DROP, "mail_to": (person.email,)}
    rule = await create_rule(database, organization.id, given, now)
    alert = await fire_alert(database, organization.id, link_id=None)
    owner = await get_organization(database, organization.id)
    url = alert_mail("", owner, AlertNews(rule, (alert,)), person.email, {}).unsubscribe_url or ""
    async with browser(service) as reader:
        assert "Stop these mails?" in (await reader.get(url)).text
        assert (await get_rule(database, organization.id, rule.id)).mail_to == (person.email,)
        nobodys = await reader.get(f"{url[:-1]}{'A' if url[-1] != 'A' else 'B'}")
        assert "Nothing is sent any more" in nobodys.text
        for _ in range(2):
            answer = await reader.post(url, data={"List-Unsubscribe": "One-Click"})
            assert "You get no more of these mails" in answer.text
    assert (await get_rule(database, organization.id, rule.id)).mail_to == ()

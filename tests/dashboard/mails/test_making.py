"""When mails with a report's figures are made, each once, and that none keeps others waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from backend.domain.alerts.rule import AlertKind
from backend.domain.links.links import Link
from backend.domain.reports.recipient import Frequency, Recipient, RecipientState
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind
from backend.mail import report_mails
from backend.mail.report_mails import LEASE, ReportMailResources, ReportMails, make_due_mail
from backend.storage.alerts.rules import create_rule
from backend.storage.driver.mongo import Database
from backend.storage.processes.failing_items import list_failing
from backend.storage.processes.leases import NAME as LEASES
from backend.storage.processes.leases import end_lease
from backend.storage.processes.work import Work
from backend.storage.reports import recipients
from backend.storage.reports.recipients import due_recipients, list_recipients
from backend.storage.reports.reports import change_report, create_report, delete_report
from backend.storage.schema.work_item import WorkItem
from tests.conftest import MovableClock
from tests.dashboard.campaigns import words
from tests.dashboard.mails.conftest import confirmed, mails_to
from tests.dashboard.people import Person


async def test_when_the_next_is_due(
    database: Database, report: Report, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """At seven in the morning of the reader's Monday, or first of the month, also across a change of clocks;
    what was missed is not made up for, but for the last."""
    now = clock()
    weekly = await confirmed(database, report, now)
    monthly = await confirmed(database, report, now, frequency=Frequency.MONTHLY)
    assert weekly.next_at == datetime(2026, 3, 23, 6, tzinfo=UTC)
    assert monthly.next_at == datetime(2026, 4, 1, 5, tzinfo=UTC)
    clock.offset += timedelta(days=13)  # 31 March
    due = [
        recipient
        for recipient in await due_recipients(database, clock(), 9)
        if recipient.org_id == report.org_id
    ]
    assert [recipient.id for recipient in due] == [weekly.id]
    await make_due_mail(mailing, due[0].read())
    [mail] = await mails_to(database, weekly, "figures")
    assert mail["_id"].endswith("/2026-03-23")
    stored = {recipient.id: recipient for recipient in await list_recipients(database, report.org_id)}
    assert stored[weekly.id].next_at == datetime(2026, 4, 6, 5, tzinfo=UTC)


async def test_a_time_zone_that_is_not_known_here(
    person: Person, database: Database, report: Report, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """One reader's or rule's is taken for UTC, which is said where people see it, and no other mail waits; a
    report whose time has one says so in the list."""
    reader = await confirmed(database, report, clock())
    values = {"name": "Limits", "kind": AlertKind.LIMITS, "mail_to": [person.email]}
    rule = await create_rule(database, report.org_id, values, clock())
    unknown = {"$set": {"timezone": "Mars/Base"}}
    await database["report_recipients"].update_one({"_id": reader.id}, unknown)
    await database["alert_rules"].update_one({"_id": rule.id}, unknown)
    [stored] = await list_recipients(database, report.org_id)
    await make_due_mail(mailing, stored)
    [mail] = await mails_to(database, reader, "figures")
    assert "9.–15. März 2026 (UTC)" in mail["text"]
    [stored] = await list_recipients(database, report.org_id)
    assert stored.next_at == datetime(2026, 3, 23, 7, tzinfo=UTC)
    told = "Mars/Base (this host does not know it: UTC is used)"
    for page in ("/mails", "/alerts"):
        assert told in words((await person.get(page)).text), page
    await database["reports"].update_one({"_id": report.id}, {"$set": {"query.timezone": "Mars/Base"}})
    listed = words((await person.get("/reports")).text)
    assert "query.timezone must be the IANA name of a time zone" in listed
    assert (await person.get(f"/shared/{report.token}")).status_code < 500


async def test_reports_that_are_over_or_gone(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """A report that nobody may open is not sent, one that can't be made any more says why, and whoever got a
    deleted one is no recipient any more."""
    recipient = await confirmed(database, report, clock())
    await database["reports"].update_one({"_id": report.id}, {"$set": {"query.measures": ["visitors", "x"]}})
    await make_due_mail(mailing, recipient)
    [stored] = await list_recipients(database, link.org_id)
    assert stored.state is RecipientState.CONFIRMED
    assert stored.error
    assert stored.error.startswith("The report can't be made any more: query.measures")
    await database["reports"].update_one({"_id": report.id}, {"$set": {"query.measures": ["visitors"]}})
    await change_report(
        database, report.org_id, report.id, {"expires_at": clock() + timedelta(hours=1)}, clock()
    )
    clock.offset += timedelta(days=7)
    await make_due_mail(mailing, recipient)
    assert await mails_to(database, recipient, "figures") == []
    await delete_report(database, report.org_id, report.id)
    assert await list_recipients(database, link.org_id) == []


async def test_a_sale_of_which_nothing_is_known(
    database: Database, report: Report, link: Link, mailing: ReportMailResources, clock: MovableClock
) -> None:
    """A row without an amount, a link, a campaign, a country and a platform is a line with its time alone."""
    await database["conversions"].insert_one(
        {
            "_id": f"{link.org_id}/bare", "org_id": link.org_id, "at": clock() - timedelta(days=5),
            "touch": None, "first_touch": None, "customer_id": None, "device_id": None,
            "currency": None, "revenue": None,
        }
    )  # fmt: skip
    values = {
        "name": "Sales",
        "kind": ViewKind.SALES,
        "query": {},
    }
    sales = await create_report(database, link.org_id, values, clock())
    recipient = await confirmed(database, sales, clock())
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    assert "Conversions  1" in mail["text"]


async def test_one_mail_that_can_not_be_made_keeps_no_other_waiting(
    database: Database, report: Report, mailing: ReportMailResources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails for one recipient, the next one's mail is made; the first is tried later, and shown."""
    readers = [
        await confirmed(database, report, mailing.clock(), address=f"{name}@{report.org_id}.example")
        for name in ("ada", "bob", "eve")
    ]
    for reader in readers:
        await database["report_recipients"].update_one(
            {"_id": reader.id}, {"$set": {"next_at": mailing.clock()}}
        )
    failing: list[str] = []

    async def make(resources: ReportMailResources, recipient: Recipient) -> None:
        if recipient.org_id == report.org_id and (not failing or recipient.id in failing):
            failing.append(recipient.id)
            raise ValueError("planted")
        await make_due_mail(resources, recipient)

    monkeypatch.setattr(report_mails, "make_due_mail", make)
    making = ReportMails(mailing)
    await making.step()
    await making.stop()
    made = [reader.id for reader in readers if await mails_to(database, reader, "figures")]
    assert {*made, *failing} == {reader.id for reader in readers}
    assert len(made) == 2
    [item] = await list_failing(database, report.org_id, Work.FIGURES_BY_MAIL)
    assert [item.item] == failing
    assert item.error == "ValueError"


async def test_who_has_lost_the_turn_makes_no_more_mails(
    database: Database, mailing: ReportMailResources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one mail takes longer than the lease, and another process has it then, the other goes on."""
    made: list[str] = []

    async def due(*_: object) -> list[WorkItem[str]]:
        return [WorkItem(name, None, partial(str, name)) for name in ("first", "second")]

    async def make_for_long(_: ReportMailResources, name: str) -> None:
        made.append(name)
        other = {"holder": "other", "until": datetime.now(UTC) + timedelta(minutes=1)}
        await database[LEASES].update_one({"_id": LEASE}, {"$set": other})

    monkeypatch.setattr(recipients, "due_recipients", due)
    monkeypatch.setattr(report_mails, "make_due_mail", make_for_long)
    await ReportMails(mailing).step()
    assert made == ["first"]
    await end_lease(database, LEASE, "other")

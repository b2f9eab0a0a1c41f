"""The page of who gets figures by mail: asking, trying, removing, and what became of the mails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from backend.app import Service
from backend.dashboard.frame.form import FORM_TOKEN
from backend.doctor.mail import examine_mails
from backend.domain.mail.mail import MailFailure, SmtpStep
from backend.domain.reports.recipient import TRIES_A_DAY
from backend.domain.reports.report import Report
from backend.mail.report_mails import ReportMailResources, make_due_mail
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.storage.reports.recipients import list_recipients, note_refusal, unsubscribe_recipient
from backend.storage.reports.reports import change_report
from tests.conftest import MovableClock
from tests.dashboard.campaigns import words
from tests.dashboard.mails.conftest import asked, confirmed, mails_to
from tests.dashboard.people import FormsOf, Person

FIELDS = {
    "address": "Client@Shop.Example",
    "frequency": "monthly",
    "language": "de",
    "timezone": "Europe/Berlin",
}


# Nobody is asked often in a day.
TWICE = {"address": "twice@shop.example"}
LATE = {"address": "late@shop.example"}


@pytest.fixture
def with_server(service: Service, mailing: ReportMailResources, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service's pages know a mail server; nothing is sent, and mails wait."""
    monkeypatch.setattr(service.resources, "settings", mailing.settings)


async def text_of(person: Person, path: str = "/mails") -> str:
    """The words of a page."""
    return words((await person.get(path)).text)


async def test_without_a_mail_server(person: Person, report: Report, database: Database) -> None:
    """The page names the settings that are missing, and nobody is asked, whatever is sent to it."""
    text = await text_of(person)
    assert "No mail server is configured, so nothing is sent." in text
    assert "has to set WAYLINK_SMTP_HOST and WAYLINK_SMTP_SENDER in its environment" in text
    assert "Add a reader" not in text
    text = await text_of(person, "/mails/new")
    assert "WAYLINK_SMTP_HOST" in text
    assert "Ask them" not in text
    token = FormsOf((await person.get("/tags")).text).fields_of("/sign-out")[FORM_TOKEN]
    for path in ("/mails", "/mails/try"):
        sent = FIELDS | {FORM_TOKEN: token, "report_id": report.id}
        assert (await person.client.post(path, data=sent)).status_code == 409
    assert await list_recipients(database, report.org_id) == []


async def test_a_form_that_comes_twice_asks_once(
    person: Person, report: Report, database: Database, with_server: None
) -> None:
    """Who clicks twice, in a new reader's form or on the button that asks again, has one mail sent."""
    form = await person.get(f"/mails/new?report={report.id}")
    asked_twice = [await person.submit(form, "/mails", **(FIELDS | TWICE)) for _ in range(2)]
    assert {answer.headers["location"] for answer in asked_twice} == {"/mails?notice=mail-asked"}
    [reader] = await list_recipients(database, report.org_id)
    assert len(await mails_to(database, reader, "confirm")) == 1
    page = await person.get("/mails")
    for _ in range(2):
        assert (await person.submit(page, f"/mails/{reader.id}/ask")).status_code == 303
    assert len(await mails_to(database, reader, "confirm")) == 2


async def test_a_mail_that_could_not_be_queued(
    person: Person, report: Report, database: Database, with_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader is not stored without the mail that asks them: the same form, sent again, does both."""
    form, typed = await person.get(f"/mails/new?report={report.id}"), FIELDS | LATE
    with monkeypatch.context() as broken:
        broken.setattr(mails, "waiting_document", None)
        assert (await person.submit(form, "/mails", **typed)).status_code == 500
    assert await list_recipients(database, report.org_id) == []
    answer = await person.submit(form, "/mails", **typed)
    assert answer.headers["location"] == "/mails?notice=mail-asked"
    [reader] = await list_recipients(database, report.org_id)
    assert len(await mails_to(database, reader, "confirm")) == 1


async def test_somebody_is_asked_and_removed(
    person: Person, report: Report, database: Database, with_server: None
) -> None:
    """From the page of a report to the question, to another one, and off the list; what waits is dropped."""
    page = (await person.get(f"/reports/{report.id}")).text
    assert f'href="/mails/new?report={report.id}"' in page
    form = f"/mails/new?report={report.id}"
    sent = await person.send(form, "/mails", **FIELDS)
    assert (sent.status_code, sent.headers["location"]) == (303, "/mails?notice=mail-asked")
    [reader] = await list_recipients(database, report.org_id)
    assert (reader.address, reader.report_id) == ("client@shop.example", report.id)
    assert (reader.frequency, reader.language, reader.timezone) == ("monthly", "de", "Europe/Berlin")
    text = await text_of(person)
    assert "client@shop.example German, Europe/Berlin Spring on www.shop.com Every month Asked" in text
    assert "May say yes until 25 Mar 2026. Last: on its way" in text
    again = await person.send("/mails", f"/mails/{reader.id}/ask")
    assert again.headers["location"] == "/mails?notice=mail-asked"
    assert len(await mails_to(database, reader, "confirm")) == 2
    assert (await person.send("/mails", f"/mails/{reader.id}/ask")).status_code == 303
    refused = await person.send("/mails", f"/mails/{reader.id}/ask")
    assert refused.status_code == 422
    assert "client@shop.example was asked 3 times within a day" in words(refused.text)
    removed = await person.send("/mails", f"/mails/{reader.id}/remove")
    assert removed.headers["location"] == "/mails?notice=mail-removed"
    assert await mails_to(database, reader, "confirm") == []
    assert "Nobody gets figures by mail yet" in await text_of(person)


async def test_what_is_wrong_stands_beside_its_field(
    person: Person, report: Report, database: Database, with_server: None
) -> None:
    """An address, a time zone and a report that are none; what was typed stays."""
    wrong = {"report_id": "x", "address": "nobody", "frequency": "weekly", "timezone": "Berlin"}
    answer = await person.send("/mails/new", "/mails", **wrong)
    assert answer.status_code == 422
    text = words(answer.text)
    for problem in (
        "3 fields need a change.",
        "Report must be a UUID",
        "Address must be an e-mail address",
        "Time zone must be the IANA name",
    ):
        assert problem in text
    assert 'value="nobody"' in answer.text
    other = await person.send(
        "/mails/new", "/mails", **FIELDS, report_id="00000000-0000-4000-8000-000000000000"
    )
    assert "Report must be one of your reports" in words(other.text)
    assert await list_recipients(database, report.org_id) == []


async def test_settings_are_changed(
    person: Person, report: Report, database: Database, clock: MovableClock
) -> None:
    """Language, time zone and fewer mails, without another question; more mails only the reader asks for."""
    reader = await confirmed(database, report, clock())
    form = f"/mails/{reader.id}"
    assert f'href="{form}"' in (await person.get("/mails")).text
    changed = await person.send(form, form, frequency="monthly", language="en", timezone="Asia/Tokyo")
    assert changed.headers["location"] == "/mails?notice=mail-changed"
    [stored] = await list_recipients(database, report.org_id)
    assert (stored.state, stored.frequency, stored.timezone) == ("confirmed", "monthly", "Asia/Tokyo")
    assert stored.next_at == datetime(2026, 3, 31, 22, tzinfo=UTC)
    refused = await person.send(form, form, frequency="weekly", timezone="Nowhere")
    assert (refused.status_code, "must be the IANA name" in refused.text) == (422, True)
    refused = await person.send(form, form, frequency="weekly")
    assert "How often can be made weekly by the reader only" in words(refused.text)
    assert await list_recipients(database, report.org_id) == [stored]
    assert len(await mails_to(database, reader, "confirm")) == 1


async def test_each_state_is_told(
    person: Person,
    report: Report,
    database: Database,
    mailing: ReportMailResources,
    clock: MovableClock,
    with_server: None,
) -> None:
    """Who gets figures and when next; who unsubscribed; whose address is refused, and in which words; what
    waits for the mail server; and a report that is closed. The overview says that mails were not sent."""
    now, domain = clock(), report.org_id
    reader = await confirmed(database, report, now)
    gone = await confirmed(database, report, now, address=f"gone@{domain}.example")
    ended = await confirmed(database, report, now, address=f"over@{domain}.example")
    await unsubscribe_recipient(database, ended.token)
    await make_due_mail(mailing, reader)
    wrong_password = MailFailure(SmtpStep.SIGN_IN, "535 5.7.8 bad password")
    nobody = MailFailure(SmtpStep.RECIPIENT, "550 5.1.1 no such user", is_final=True)
    for item in await mails.due_mails(database, now + timedelta(minutes=1), 1000):
        mail = item.read()
        if mail.mail.key.startswith(f"figures/{reader.id}/"):
            await mails.end_failed(database, mail, "one", wrong_password, now, chance=0.5)
        elif mail.mail.address == gone.address:
            await mails.end_failed(database, mail, "one", nobody, now, chance=0.5)
    await note_refusal(database, report.org_id, gone.address, "The mail server refuses the address: 550 no")
    text = await text_of(person)
    assert f"{reader.address} German, Europe/Berlin Spring on www.shop.com Every week Gets it" in text
    assert "Said yes on 18 Mar 2026. Next: 23 Mar 2026, 07:00 Last: waits, and is tried again" in text
    assert "Every week Refused The mail server refuses the address: 550 no. Last: not sent" in text
    assert "Every week Unsubscribed Nothing is sent." in text
    assert "The mail server refuses user and password: 535 5.7.8 bad password. It is tried again on" in text
    assert "no such user. It is not sent again." in text
    finding = await examine_mails(database, await get_organization(database, report.org_id), clock())
    assert finding
    assert "2 mails were not sent in the last 7 days. The newest: The mail server refuses" in finding.message
    assert "1 reader" in await text_of(person, f"/reports/{report.id}")
    assert "not sent in the last 7 days" not in await text_of(person, "/")
    clock.offset += timedelta(minutes=20)
    assert "2 mails were not sent in the last 7 days" in await text_of(person, "/")
    closing = {"expires_at": clock() + timedelta(minutes=1)}
    await change_report(database, report.org_id, report.id, closing, clock())
    clock.offset += timedelta(minutes=2)
    assert "Report closed Nothing is sent until the report has a later end. Last:" in await text_of(person)


async def test_a_try_goes_to_whoever_wants_it(
    person: Person, report: Report, database: Database, with_server: None, clock: MovableClock
) -> None:
    """What a reader would get now, to one's own address, with nothing to unsubscribe from: from the form,
    before anybody was asked, and from the list. A bounded number a day."""
    form = f"/mails/new?report={report.id}"
    fields = FormsOf((await person.get(form)).text).fields_of("/mails") | FIELDS
    page = await person.client.post("/mails/try", data=fields)
    assert f"The mail is on its way to {person.email}. Nobody was asked yet." in words(page.text)
    assert 'value="Client@Shop.Example"' in page.text
    assert await list_recipients(database, report.org_id) == []
    reader = await asked(database, report, clock())
    assert (await person.send("/mails", f"/mails/{reader.id}/try")).status_code == 303
    of_tries = {"_id": {"$regex": f"^{report.org_id}/try/"}}
    first, second = await database[mails.NAME].find(of_tries).sort("created_at", 1).to_list(None)
    assert [first["address"], second["address"]] == [person.email] * 2
    assert first["subject"] == "Probe: Spring on www.shop.com: Februar 2026"
    assert second["subject"] == "Probe: Spring on www.shop.com: 9.–15. März 2026"
    assert first["unsubscribe_url"] is None
    assert "unsubscribe" not in first["html"] + first["text"]
    assert "Diese Mail haben Sie zur Probe angefordert" in second["text"]
    assert f"Your try of 18 Mar 2026, 12:10 to {person.email} is on its way." in await text_of(person)
    kept = {name: second[name] for name in second if name != "_id"}
    more = [kept | {"_id": f"{report.org_id}/try/x/{number}"} for number in range(TRIES_A_DAY - 2)]
    await database[mails.NAME].insert_many(more)
    refused = await person.send("/mails", f"/mails/{reader.id}/try")
    assert refused.status_code == 422
    assert f"Your address, {person.email}, got 20 tries within a day" in words(refused.text)
    await database[mails.NAME].delete_many(of_tries)
    end = {"expires_at": clock() + timedelta(minutes=1)}
    await change_report(database, report.org_id, report.id, end, clock())
    clock.offset += timedelta(minutes=2)
    closed = await person.client.post("/mails/try", data=fields)
    assert "The report is closed: nobody gets its figures until it has a later end." in words(closed.text)

"""From the call that asks for mails to the mail with figures and its end, through a real mail server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.app import Service, create_app
from backend.mail import delivery, report_mails
from backend.settings import Settings, SmtpTls
from backend.storage.reports.recipients import list_recipients
from backend.storage.reports.reports import create_report
from tests.api.link_calls import API
from tests.conftest import MovableClock
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import create_test_organization
from tests.polling import wait_for_async
from tests.processes.service_process import own_database
from tests.processes.smtp_server import TAKEN, Mailbox

BASE_URL = "https://links.shop.example"
ADDRESS = "ada@reader.example"


@pytest.fixture
async def mailing(
    settings: Settings,
    mongodb_uri: str,
    mailbox: Mailbox,
    tmp_path: Path,
    clock: MovableClock,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Service]:
    """A service with a mail server."""
    for module in (delivery, report_mails):
        monkeypatch.setattr(module, "STEP_SECONDS", 0.05)
    with own_database(mongodb_uri) as own:
        service = create_app(
            replace(
                settings,
                mongodb_database=own["WAYLINK_MONGODB_DATABASE"],
                data_dir=tmp_path,
                base_url=BASE_URL,
                smtp_host="localhost",
                smtp_port=mailbox.port,
                smtp_tls=SmtpTls.NONE,
                smtp_sender="links@shop.example",
            ),
            clock,
        )
        await service.startup()
        yield service
        await service.shutdown()


async def mail_number(mailbox: Mailbox, number: int) -> EmailMessage:
    """The mail of this number to the reader, counted from 1."""

    async def read() -> list[EmailMessage]:
        return mailbox.to(ADDRESS)

    return (await wait_for_async(read, "mails", lambda found: len(found) >= number))[number - 1]


def path_in(message: EmailMessage, begin: str) -> str:
    """The path of the address in the mail's text that begins so."""
    text = message.get_body(("plain",))
    assert text
    match = re.search(rf"{re.escape(BASE_URL)}({begin}\S+)", text.get_content())
    assert match
    return match[1]


async def test_asked_sent_and_ended(mailing: Service, mailbox: Mailbox, clock: MovableClock) -> None:
    """Nothing comes before the reader confirms; then one mail a week, until one POST ends it."""
    organization = await create_test_organization(mailing.resources.database)
    transport = httpx.ASGITransport(app=mailing)
    async with httpx.AsyncClient(
        transport=transport, base_url=BASE_URL, headers=organization.headers
    ) as client:
        report = {"name": "Links", "query": {"group_by": ["link"], "period": "last_7_days"}}
        report_id = (await client.post(f"{API}/reports", json=report)).json()["id"]
        body = {"report_id": report_id, "address": ADDRESS, "frequency": "weekly"}
        made = await client.post(f"{API}/report-recipients", json=body)
        assert (made.status_code, made.json()["state"]) == (200, "unconfirmed")
        asked = await mail_number(mailbox, 1)
        assert asked["Subject"] == "Please confirm: weekly figures of “Links”"
        clock.offset += timedelta(days=6)
        assert (await client.post(path_in(asked, "/mail/confirm/"))).status_code == 200
        clock.offset += timedelta(days=8)
        figures = await mail_number(mailbox, 2)
        assert figures["Subject"].startswith("Links: ")
        assert figures["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"

        async def the_recipient() -> Any:
            [recipient] = (await client.get(f"{API}/report-recipients")).json()["recipients"]
            return recipient

        listed = await wait_for_async(
            the_recipient, "the mail is not noted", lambda recipient: recipient["last_mail"]
        )
        assert (listed["state"], listed["last_mail"]["error"]) == ("confirmed", None)
        clock.offset += timedelta(days=7)
        await mail_number(mailbox, 3)
        unsubscribe = figures["List-Unsubscribe"].strip("<>").removeprefix(BASE_URL)
        answer = await client.post(unsubscribe, data={"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
        clock.offset += timedelta(days=7)
        other = body | {"address": "end@reader.example"}
        assert (await client.post(f"{API}/report-recipients", json=other)).status_code == 200

        async def ended() -> bool:
            return bool(mailbox.to("end@reader.example"))

        await wait_for_async(ended, "a mail that was asked for later")
        assert len(mailbox.to(ADDRESS)) == 3
        one = f"{API}/report-recipients/{listed['id']}"
        changed = await client.patch(one, json={"frequency": "monthly", "language": "de"})
        assert (changed.status_code, changed.json()["frequency"]) == (200, "monthly")
        wrong = await client.patch(one, json={"address": ADDRESS, "timezone": "Nowhere"})
        assert wrong.json()["error"]["fieldName"] == "address"
        deleted = await client.delete(f"{API}/report-recipients/{listed['id']}")
        assert deleted.status_code == 204
        again = await client.delete(f"{API}/report-recipients/{listed['id']}")
        assert (again.status_code, again.json()["error"]["fieldName"]) == (404, "RECIPIENT_NOT_FOUND")
        refused = await client.post(f"{API}/report-recipients", json=body | {"report_id": listed["id"]})
        assert refused.json()["error"]["errorMessage"] == "report_id must be a report of your organization"
        live = {"name": "x", "kind": "live", "query": {}}
        made = (await client.post(f"{API}/reports", json=live)).json()
        refused = await client.post(f"{API}/report-recipients", json=body | {"report_id": made["id"]})
        told = "report_id must not be of live, which mails can't show"
        assert refused.json()["error"]["errorMessage"] == told


async def test_from_the_dashboard(mailing: Service, mailbox: Mailbox) -> None:
    """Somebody is asked by the form, and the mail server's refusal stands on the page; the try arrives, and
    nothing in it unsubscribes anybody."""
    database = mailing.resources.database
    organization = await create_test_organization(database)
    report = {"name": "Links", "query": {"group_by": ["link"]}}
    made = await create_report(database, organization.id, report, mailing.resources.clock())
    mailbox.to_address = lambda address: "550 5.1.1 Nobody here" if address == ADDRESS else TAKEN
    async with browser(mailing, BASE_URL) as client:
        person = Person(client, await make_user(database, organization.id))
        await open_session(database, person, BASE_URL)
        form = f"/mails/new?report={made.id}"
        assert (await person.send(form, "/mails", address=ADDRESS)).status_code == 303

        async def page() -> str:
            return (await person.get("/mails")).text

        said = "The mail server refuses the address: 550 5.1.1 Nobody here"
        await wait_for_async(page, "the refusal", lambda text: text.count(said) == 2)
        [reader] = await list_recipients(database, organization.id)
        assert (await person.send("/mails", f"/mails/{reader.id}/try")).status_code == 303
        await wait_for_async(page, "the try", lambda text: "was taken by the mail server" in text)
    [message] = mailbox.to(person.email)
    assert message["Subject"].startswith("A try: Links: ")
    assert message["List-Unsubscribe"] is None

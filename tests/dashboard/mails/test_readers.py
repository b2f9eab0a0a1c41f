"""Somebody is asked whether they want figures, says yes, and unsubscribes: pages without an account."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import address_hash
from backend.domain.ids import OrgId
from backend.domain.reports.recipient import ASKED_A_DAY, Recipient, RecipientState
from backend.domain.reports.report import Report
from backend.domain.visitors.persons import Subject
from backend.mail.recipients import delete_report_and_mails
from backend.mail.report_mails import ReportMailResources, make_due_mail
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from backend.storage.reports.recipients import find_recipient_by_token, list_recipients, note_refusal
from tests.conftest import MovableClock
from tests.dashboard.mails.conftest import BASE_URL, asked, confirmed, mails_to


async def state_of(database: Database, recipient: Recipient) -> RecipientState:
    """The recipient's state now."""
    found = await find_recipient_by_token(database, recipient.token)
    assert found
    return found.state


def path_in(text: str, begin: str) -> str:
    """The path behind the base URL that a text has."""
    [url] = [word for word in text.split() if word.startswith(f"{BASE_URL}{begin}")]
    return url.removeprefix(BASE_URL)


async def test_confirmed_by_a_button_only(
    database: Database, report: Report, reader: httpx.AsyncClient, clock: MovableClock
) -> None:
    """The mail's names are no links; opening its address changes nothing, its button does, and again says the
    same; then the address is not asked again."""
    recipient = await asked(database, report, clock())
    [mail] = await mails_to(database, recipient, "confirm")
    assert mail["subject"] == "Bitte bestätigen: die wöchentlichen Zahlen von „Spring on www shop com“"
    assert "www.shop.com" not in mail["text"] + mail["html"]
    path = path_in(mail["text"], "/mail/confirm/")
    for _ in range(2):
        page = await reader.get(path)
        assert (page.status_code, "Möchten Sie diese Mails?" in page.text) == (200, True)
        assert await state_of(database, recipient) is RecipientState.UNCONFIRMED
    assert page.headers["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert '<html lang="de">' in page.text
    for page in (await reader.post(path), await reader.post(path), await reader.get(path)):
        assert (page.status_code, "zum ersten Mal am 23. März 2026" in page.text) == (200, True)
    assert await state_of(database, recipient) is RecipientState.CONFIRMED
    await asked(database, report, clock())
    assert len(await mails_to(database, recipient, "confirm")) == 1


async def test_one_click(
    database: Database,
    report: Report,
    reader: httpx.AsyncClient,
    mailing: ReportMailResources,
) -> None:
    """A POST as RFC 8058 says, without cookies, ends the mails, also one that waits; so does the page's
    button. The mail that asked does not confirm any more."""
    recipient = await confirmed(database, report, mailing.clock())
    await make_due_mail(mailing, recipient)
    path = f"/mail/unsubscribe/{recipient.token}"
    page = await reader.get(path)
    assert (page.status_code, "Abbestellen?" in page.text) == (200, True)
    assert await state_of(database, recipient) is RecipientState.CONFIRMED
    answer = await reader.post(path, data={"List-Unsubscribe": "One-Click"}, headers={"Cookie": ""})
    assert (answer.status_code, "Sie haben abbestellt" in answer.text) == (200, True)
    assert "Set-Cookie" not in answer.headers
    assert await state_of(database, recipient) is RecipientState.UNSUBSCRIBED
    assert await mails_to(database, recipient, "figures") == []
    assert (await reader.post(path, files={"List-Unsubscribe": (None, "One-Click")})).status_code == 200
    confirm = f"/mail/confirm/{recipient.token}/{recipient.code}"
    assert (await reader.get(confirm)).status_code == 410
    assert (await reader.post(confirm)).status_code == 410
    assert await state_of(database, recipient) is RecipientState.UNSUBSCRIBED


async def test_settings_without_another_question(
    database: Database, report: Report, reader: httpx.AsyncClient, mailing: ReportMailResources
) -> None:
    """Each mail leads to a form for how often, language and time zone; opening it changes nothing, and saving
    it asks nobody again. The next mail comes when it is due by the new settings."""
    clock = mailing.clock
    recipient = await confirmed(database, report, clock())
    await make_due_mail(mailing, recipient)
    [mail] = await mails_to(database, recipient, "figures")
    path = path_in(mail["text"], "/mail/settings/")
    assert f'href="{BASE_URL}{path}"' in mail["html"]
    page = await reader.get(path)
    assert (page.status_code, '<option value="weekly" selected>Jede Woche' in page.text) == (200, True)
    assert path in (await reader.get(f"/mail/unsubscribe/{recipient.token}")).text
    sent = {"frequency": "monthly", "language": "en", "timezone": "America/New_York"}
    saved = await reader.post(path, data=sent)
    assert (saved.status_code, "This is saved." in saved.text) == (200, True)
    [changed] = await list_recipients(database, report.org_id)
    assert (changed.state, changed.frequency, changed.language) == ("confirmed", "monthly", "en")
    assert changed.next_at == datetime(2026, 4, 1, 11, tzinfo=UTC)
    assert len(await mails_to(database, recipient, "confirm")) == 1
    await make_due_mail(mailing, changed)
    subjects = [sent["subject"] for sent in await mails_to(database, recipient, "figures")]
    assert [subject.partition(": ")[2] for subject in subjects] == ["9.–15. März 2026", "February 2026"]
    for wrong in ({"language": "en"}, sent | {"timezone": "Nowhere"}, sent | {"frequency": "daily"}):
        assert (await reader.post(path, data=wrong)).status_code == 422
    await confirmed(database, report, clock())
    taken = await reader.post(path, data=sent | {"frequency": "weekly"})
    assert (taken.status_code, "that often already" in taken.text) == (422, True)
    await reader.post(f"/mail/unsubscribe/{recipient.token}")
    ended = await reader.post(path, data=sent)
    assert "You are unsubscribed" in ended.text
    assert await state_of(database, recipient) is RecipientState.UNSUBSCRIBED


async def test_what_is_deleted_sends_nothing_any_more(
    database: Database, report: Report, reader: httpx.AsyncClient, mailing: ReportMailResources
) -> None:
    """The link to unsubscribe from a deleted report or rule, or of who was removed, says so politely, in the
    language of the browser; nothing of it waits to be sent."""
    now = mailing.clock()
    recipient = await confirmed(database, report, now)
    await make_due_mail(mailing, recipient)
    await delete_report_and_mails(database, report.org_id, report.id)
    assert await mails_to(database, recipient, "figures") == []
    rule = f"/mail/alerts/stop/{uuid.uuid4()}/{recipient.token}"
    for path in (f"/mail/unsubscribe/{recipient.token}", f"/mail/settings/{recipient.token}", rule):
        for method in ("GET", "POST"):
            said = await reader.request(method, path, headers={"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"})
            assert (said.status_code, "Es wird nichts mehr geschickt" in said.text) == (200, True), path
            assert '<html lang="de">' in said.text
        assert "Nothing is sent any more" in (await reader.get(path)).text
    for path in ("/mail/unsubscribe/x", "/mail/settings/x", f"/mail/alerts/stop/x/{recipient.token}"):
        assert (await reader.get(path)).status_code == 404


async def test_addresses_that_confirm_nobody(
    database: Database, report: Report, reader: httpx.AsyncClient, clock: MovableClock
) -> None:
    """A wrong token, a wrong code, and one that is too late."""
    recipient = await asked(database, report, clock())
    for path in ("/mail/confirm/x/y", "/mail/unsubscribe/x", f"/mail/confirm/{'a' * 43}/y"):
        assert [(await reader.request(method, path)).status_code for method in ("GET", "POST")] == [404, 404]
    wrong = f"/mail/confirm/{recipient.token}/{recipient.token}"
    assert [(await reader.request(method, wrong)).status_code for method in ("GET", "POST")] == [410, 410]
    clock.offset += timedelta(days=7, minutes=1)
    late = f"/mail/confirm/{recipient.token}/{recipient.code}"
    assert [(await reader.request(method, late)).status_code for method in ("GET", "POST")] == [410, 410]
    assert await state_of(database, recipient) is RecipientState.UNCONFIRMED


async def test_nobody_is_flooded(
    database: Database, report: Report, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address is asked so often in a day, by whomever, and so often in vain by one organization; an
    organization asks so many in a day."""
    for _ in range(ASKED_A_DAY):
        recipient = await asked(database, report, clock())
    assert len(await list_recipients(database, report.org_id)) == 1
    with pytest.raises(InvalidField, match="3 times within a day"):
        await asked(database, report, clock())
    assert len(await mails_to(database, recipient, "confirm")) == ASKED_A_DAY
    for _ in range(2):
        clock.offset += timedelta(days=2)
        await asked(database, report, clock())
    clock.offset += timedelta(days=2)
    with pytest.raises(InvalidField, match="5 times within a hundred days"):
        await asked(database, report, clock())
    monkeypatch.setattr("backend.mail.recipients.ASKED_BY_ORGANIZATION_A_DAY", 1)
    await asked(database, report, clock(), address=f"bob@{report.org_id}.example")
    with pytest.raises(InvalidField, match="organization has asked 1"):
        await asked(database, report, clock(), address=f"eve@{report.org_id}.example")


async def test_an_address_that_is_refused_or_erased(
    database: Database, report: Report, now: datetime
) -> None:
    """A mailbox that does not exist gets nothing more; an erasure takes the address everywhere."""
    recipient = await confirmed(database, report, now)
    await note_refusal(database, OrgId("another"), recipient.address, "550 no such mailbox")
    assert await state_of(database, recipient) is RecipientState.CONFIRMED
    await note_refusal(database, report.org_id, recipient.address, "550 no such mailbox")
    [refused] = await list_recipients(database, report.org_id)
    assert (refused.state, refused.next_at, refused.error) == (
        RecipientState.REFUSED,
        None,
        "550 no such mailbox",
    )
    subject = Subject(email_sha256=address_hash(recipient.address))
    found = [name async for name, _ in export_subject(database, report.org_id, subject)]
    assert sorted(found) == ["mails", "report_recipients"]
    await erase_subject(database, report.org_id, subject)
    assert await list_recipients(database, report.org_id) == []
    assert await mails_to(database, recipient, "confirm") == []

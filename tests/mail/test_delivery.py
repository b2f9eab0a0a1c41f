"""Mails through a real mail server: sent once, tried again, given up."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from backend.domain.accounts.entry.who_gets_in import LinkWay
from backend.domain.accounts.permissions import EVERYTHING
from backend.domain.accounts.roles import Role
from backend.domain.accounts.users import User
from backend.domain.ids import OrgId, UserId
from backend.domain.mail.language import Language
from backend.domain.mail.mail import RETRY_PERIOD, MailFailure, MailResult, MailState, QueuedMail, SmtpStep
from backend.mail.member_mails import INVITATION_KEY, RESET_KEY, mail_invitation, mail_reset
from backend.storage.accounts.users.invitations import invite, withdraw_invitation
from backend.storage.accounts.users.password_resets import begin_reset, delete_resets_of
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.system.clock import utc_now
from tests.conftest import MovableClock
from tests.dashboard.people import make_user
from tests.fresh_database import fresh_database
from tests.mail.conftest import delivering, mail_to
from tests.polling import wait_for_async
from tests.processes.smtp_server import TAKEN, Mailbox


async def result_of(database: Database, key: str, *states: MailState) -> MailResult:
    """What became of the mail with this key, once it is in one of the states."""

    async def read() -> MailResult:
        return (await mails.last_of_each(database, OrgId("o"), ""))[key]

    return await wait_for_async(read, key, lambda result: result.state in states)


async def test_a_mail_arrives_once(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As text and as HTML, with the headers of automatic mails; a second with its key is not sent, and the
    text is gone afterwards."""
    url = "https://links.shop.example/mail/unsubscribe/" + "a" * 120
    mail = mail_to("ada@shop.example", "one", unsubscribe_url=url)
    assert await mails.queue_mail(quiet, mail, utc_now())
    assert not await mails.queue_mail(quiet, mail_to("bob@shop.example", "one"), utc_now())
    async with delivering(quiet, mailbox, utc_now, monkeypatch):
        await result_of(quiet, "one", MailState.SENT)
        assert not await mails.queue_mail(quiet, mail, utc_now())
        await mails.queue_mail(quiet, mail_to("end@shop.example", "sentinel"), utc_now())
        await result_of(quiet, "sentinel", MailState.SENT)
    assert mailbox.counts == {"ada@shop.example": 1, "end@shop.example": 1}
    [message] = mailbox.to("ada@shop.example")
    assert message["From"] == "Waylink <links@shop.example>"
    assert (message["To"], message["Subject"]) == ("ada@shop.example", "Grüße")
    assert message["List-Unsubscribe"] == f"<{url}>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@shop.example>")
    text, html = message.iter_parts()
    assert text.get_content_type() == "text/plain"
    assert text.get_content().splitlines() == ["Ja.", ".", "Nein."]
    assert (html.get_content_type(), html.get_content().strip()) == ("text/html", "<p>Ja. Nein.</p>")
    [stored] = await quiet["mails"].find({"_id": "o/one"}).to_list(None)
    assert not {"subject", "text", "html", "unsubscribe_url"} & stored.keys()


async def test_organizations_take_turns(database: Database) -> None:
    """One that has many mails waiting, all before those of others, has one sent before the next one's turn;
    the others' come in the order in which they wait, and so do its own."""
    async with fresh_database(database) as own:
        now = utc_now()
        waiting = [("many", f"m{number}") for number in range(5)] + [("two", "a"), ("one", "b"), ("two", "c")]
        for number, (org_id, key) in enumerate(waiting):
            at = now + timedelta(seconds=number)
            await mails.queue_mail(own, mail_to("ada@shop.example", key, org_id), at)
        due = await mails.due_mails(own, now + timedelta(minutes=1), 6, ["many/m1"])
        assert [item.id for item in due] == ["many/m0", "two/a", "one/b", "many/m2", "two/c", "many/m3"]
        assert due[0].read().mail.text == "Ja.\n.\nNein.\n"


async def test_what_the_server_refuses(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the time being: it is tried again after a pause. For good: never, and the answer is kept. Mails
    behind it are sent by the same connection."""
    clock, tries = MovableClock(), {"later@x.example": 0, "never@x.example": 0}

    def answer(address: str) -> str:
        if address in tries:
            tries[address] += 1
        if address == "never@x.example":
            return "550 5.1.1 No such mailbox"
        return "451 4.7.1 Try later" if tries.get(address) == 1 else TAKEN

    mailbox.to_address = answer
    for name in ("later", "never", "fine"):
        await mails.queue_mail(quiet, mail_to(f"{name}@x.example", name), clock())
    async with delivering(quiet, mailbox, clock, monkeypatch):
        await result_of(quiet, "fine", MailState.SENT)
        never = await result_of(quiet, "never", MailState.REFUSED)
        assert never.error == "The mail server refuses the address: 550 5.1.1 No such mailbox"
        later = await result_of(quiet, "later", MailState.WAITING)
        assert later.error == "The mail server refuses the address: 451 4.7.1 Try later"
        assert tries["later@x.example"] == 1
        clock.offset = timedelta(minutes=2)
        await result_of(quiet, "later", MailState.SENT)
    assert tries == {"later@x.example": 2, "never@x.example": 1}


async def test_a_mail_that_cant_be_written(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits, with its error, after an attempt of its own: mails behind it are sent, also those of other
    organizations. In the end it is given up."""
    clock = MovableClock()
    beginnings = ("a..b@", ".a@", "=?utf-8?q?x?=@", "müller@", "ada@mü")
    bad = [f"{begin}x.example" for begin in beginnings]
    for address in bad:
        await mails.queue_mail(quiet, mail_to(address, address), clock())
    clock.offset = timedelta(seconds=1)  # so that all bad ones come first
    for org_id in ("other", "o"):
        await mails.queue_mail(quiet, mail_to(f"{org_id}@x.example", "behind", org_id), clock())
    async with delivering(quiet, mailbox, clock, monkeypatch):
        await result_of(quiet, "behind", MailState.SENT)
        assert mailbox.counts == {"o@x.example": 1, "other@x.example": 1}
        failed = {
            mail.address: mail
            for mail in await mails.list_failed(quiet, OrgId("o"), clock() - timedelta(days=1), 9)
        }
        for address in bad:
            assert failed[address].result.error
            tried_again = failed[address].next_try_at
            assert tried_again
            assert tried_again > clock()
        clock.offset = RETRY_PERIOD + timedelta(minutes=1)
        for address in bad:
            await result_of(quiet, address, MailState.GIVEN_UP)


async def test_no_server_for_two_days(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mails wait for a server that can't be reached, and are given up in the end, with the reason."""
    clock = MovableClock()
    await mails.queue_mail(quiet, mail_to("ada@shop.example", "lonely"), clock())
    gone = Mailbox(1)  # no server has this port
    async with delivering(quiet, gone, clock, monkeypatch):

        async def error() -> str | None:
            return (await result_of(quiet, "lonely", MailState.WAITING)).error

        said = await wait_for_async(error, "an error")
        assert said
        assert said.startswith("The mail server can't be reached: ")
        clock.offset = RETRY_PERIOD + timedelta(minutes=1)
        await result_of(quiet, "lonely", MailState.GIVEN_UP)
    assert mailbox.messages == []


async def test_what_nobody_wants_any_more_is_not_sent(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not what has ended while it waited, such as a link or an invitation; not to who has left; and no link
    for a new password once there is one."""
    clock = MovableClock()
    now, org_id = clock(), OrgId("o")
    here, gone, other = (f"{name}@shop.example" for name in ("here", "gone", "other"))
    await make_user(quiet, org_id, email=here)
    await make_user(quiet, OrgId("another"), email=gone)
    outdated = replace(mail_to(other, "outdated"), until=now + timedelta(minutes=30))
    await mails.queue_mail(quiet, outdated, now)
    for address in (here, gone):
        await mails.queue_mail(quiet, replace(mail_to(address, f"member {address}"), to_member=True), now)
    user = User(UserId("u"), other, "", (org_id,), now)
    token = await begin_reset(quiet, user.id, now + timedelta(days=1), LinkWay.MAILED)
    await mail_reset(quiet, "https://x.example", user, token=token, language=Language.EN, now=now)
    await delete_resets_of(quiet, user.id)
    _, invitation = await invite(
        quiet, org_id, other, Role.VIEWER, invited_by="x", granted=EVERYTHING, now=now
    )
    await mail_invitation(
        quiet, "https://x.example", "O", invitation, token="t", language=Language.EN, now=now
    )
    await withdraw_invitation(quiet, org_id, invitation.id)
    clock.offset = timedelta(minutes=45)
    async with delivering(quiet, mailbox, clock, monkeypatch):
        await result_of(quiet, f"member {here}", MailState.SENT)
        ended = await result_of(quiet, "outdated", MailState.GIVEN_UP)
        for unwanted in (f"member {gone}", RESET_KEY.strip("/"), INVITATION_KEY.strip("/")):
            await result_of(quiet, unwanted, MailState.GIVEN_UP)
    assert ended.error == "What the mail is about has ended before it could be sent."
    assert [message["To"] for message in mailbox.messages] == [here]


async def test_an_answer_that_never_came(quiet: Database) -> None:
    """A mail whose text was on its way is not sent again by the next process; a process that was suspended
    and comes back can say that it was sent."""
    mail = mail_to("ada@shop.example", "halfway")
    now = utc_now()
    await mails.queue_mail(quiet, mail, now)
    assert await mails.begin_sending(quiet, mail, "one", now)
    assert not await mails.begin_sending(quiet, mail, "other", now)
    assert await mails.end_interrupted(quiet, now) == 1
    uncertain = await result_of(quiet, "halfway", MailState.UNCERTAIN)
    assert uncertain.error
    assert "may have arrived" in uncertain.error
    assert await mails.due_mails(quiet, now + timedelta(days=1), 9) == []
    await mails.end_sent(quiet, mail, "other", now)
    await result_of(quiet, "halfway", MailState.UNCERTAIN)
    await mails.end_sent(quiet, mail, "one", now)
    await result_of(quiet, "halfway", MailState.SENT)
    lost = MailFailure(SmtpStep.MESSAGE, "Connection lost", is_uncertain=True)
    cut = mail_to("ada@shop.example", "cut")
    await mails.queue_mail(quiet, cut, now)
    await mails.end_failed(quiet, QueuedMail(cut, now), "one", lost, now, chance=0.5)
    await result_of(quiet, "cut", MailState.UNCERTAIN)


async def test_who_comes_back_and_fails_leaves_the_mail_to_who_sends_it(quiet: Database) -> None:
    """Else it would wait again, and be sent twice."""
    mail, now = mail_to("ada@shop.example", "taken over"), utc_now()
    await mails.queue_mail(quiet, mail, now)
    (queued,) = await mails.due_mails(quiet, now, 9)
    assert await mails.begin_sending(quiet, mail, "other", now)
    lost = MailFailure(SmtpStep.RECIPIENT, "Connection lost")
    await mails.end_failed(quiet, queued.read(), "one", lost, now, chance=0.5)
    await mails.end_sent(quiet, mail, "other", now)
    await result_of(quiet, "taken over", MailState.SENT)
    assert await mails.due_mails(quiet, now + timedelta(days=1), 9) == []

"""Invitations and links for new passwords, through a real mail server."""

from __future__ import annotations

import re
from email.message import EmailMessage
from urllib.parse import urlsplit

import pytest

from backend.app import Service
from backend.mail.member_mails import RESET_KEY
from backend.storage.accounts.users.users import find_user_by_email
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.web.current import Resources, given_to
from tests.dashboard.people import PASSWORD, FormsOf, Person, browser, make_user, open_session
from tests.facts.organizations import create_test_organization
from tests.mail.test_whole_way import BASE_URL, mailing  # noqa: F401 - a fixture
from tests.polling import wait_for_async
from tests.processes.smtp_server import Mailbox

NEW = "another long password"


async def mail_to(mailbox: Mailbox, address: str, words: str = "") -> EmailMessage:
    """The first mail to this address whose subject has these words."""

    async def read() -> list[EmailMessage]:
        return [mail for mail in mailbox.to(address) if words in mail["Subject"]]

    return (await wait_for_async(read, "a mail", bool))[0]


def link_in(mail: EmailMessage) -> str:
    """The path of the link in the mail's text."""
    body = mail.get_body(("plain",))
    assert body is not None
    match = re.search(rf"{re.escape(BASE_URL)}\S+", body.get_content())
    assert match
    return urlsplit(match[0]).path


async def test_nobody_is_buried_in_invitations(mailing: Service, mailbox: Mailbox) -> None:  # noqa: F811
    """An address gets three mails a day, whichever organizations invite it and however it is spelled; who
    invites once more reads why no mail goes out, and has the link."""
    database: Database = given_to(mailing.api, Resources).database
    spellings = ("Buried@Müller.example", "buried@xn--mller-kva.example")
    shown = []
    for organization in [await create_test_organization(database) for _ in range(2)]:
        async with browser(mailing, BASE_URL) as client:
            owner = Person(client, await make_user(database, organization.id))
            await open_session(database, owner, BASE_URL)
            for spelling in spellings:
                form = {"email": spelling, "role": "viewer"}
                shown.append(await owner.send("/members", "/members/invitations", **form))
    assert ["A mail with a link of its own is on its way" in page.text for page in shown] == [
        True,
        True,
        True,
        False,
    ]
    assert f"No mail goes out. {spellings[1]} got 3 invitations within a day." in shown[-1].text
    assert all(f"{BASE_URL}/join/" in page.text for page in shown)
    queued = database[mails.NAME].count_documents({"address": spellings[1]})
    assert await queued == 3
    await mail_to(mailbox, spellings[1])


@pytest.mark.usefixtures("mailing")
async def test_invitation_and_new_password_come_by_mail(mailing: Service, mailbox: Mailbox) -> None:  # noqa: F811
    """The invited get the link in their mail, in the inviter's language; who forgot a password gets one, too,
    and who has no account gets nothing, with the same answer. Owners are told that their organization will be
    deleted, and that it stays."""
    database: Database = given_to(mailing.api, Resources).database
    organization = await create_test_organization(database)
    owner_email = await make_user(database, organization.id, email="owner@reader.example")
    async with browser(mailing, BASE_URL) as client, browser(mailing, BASE_URL) as guest:
        owner = Person(client, owner_email)
        await open_session(database, owner, BASE_URL)
        client.headers["Accept-Language"] = "de-AT, en;q=0.5"
        shown = await owner.send(
            "/members", "/members/invitations", email="new@reader.example", role="viewer"
        )
        assert "A mail with a link of its own is on its way" in shown.text
        mail = await mail_to(mailbox, "new@reader.example")
        assert mail["Subject"] == "Eine Einladung zu Acme"
        path = link_in(mail)
        assert path not in shown.text  # whoever opens it has read the mail
        fields = FormsOf((await guest.get(path)).text).fields_of(path)
        assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 303
        made = await find_user_by_email(database, "new@reader.example")
        assert made
        assert made.is_address_proved

        form = "/settings/deletion"
        await owner.send(form, form, typed_name="Acme", password=PASSWORD)
        announced = await mail_to(mailbox, owner_email, "wird am")
        assert link_in(announced) == form
        await owner.send(form, f"{form}/take-back")
        assert (await mail_to(mailbox, owner_email, "bleibt"))["Subject"] == "Acme bleibt"

        visitor = Person(guest, owner_email)
        answers = [
            await visitor.send("/forgot-password", "/forgot-password", email=email)
            for email in ("nobody@reader.example", owner_email)
        ]
        said = [
            answer.text.replace(email, "").count("on its way")
            for answer, email in zip(answers, ("nobody@reader.example", owner_email), strict=True)
        ]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert said == [1, 1]
        path = link_in(await mail_to(mailbox, owner_email, "password"))
        fields = FormsOf((await guest.get(path)).text).fields_of(path)
        assert (await guest.post(path, data=fields | {"password": NEW})).status_code == 303
        assert (await owner.get("/")).status_code == 303
        assert (await owner.sign_in(PASSWORD)).status_code == 422
        assert (await owner.sign_in(NEW)).status_code == 303
        resets = {"_id": {"$regex": f"/{RESET_KEY}"}}
        stored = await database[mails.NAME].find(resets).to_list(None)
        assert [mail["address"] for mail in stored] == [owner_email]
        assert "text" not in stored[0]  # the link is kept no longer than the mail waits

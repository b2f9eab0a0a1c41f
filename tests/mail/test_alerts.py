"""Alerts through a real mail server."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backend.domain.accounts.users import User
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import AlertKind
from backend.domain.ids import UserId
from backend.domain.mail.language import Language
from backend.storage.accounts.users.users import insert_user
from backend.storage.alerts.firing import tell
from backend.storage.alerts.rules import create_rule
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.archives.full_organization import PASSWORD_HASH
from tests.facts.fired_alerts import CHANNELS
from tests.facts.organizations import create_test_organization
from tests.mail.conftest import delivering
from tests.polling import until
from tests.processes.smtp_server import Mailbox

ADDRESS = "ada@shop.example"


async def test_an_alert_and_its_end_arrive(
    quiet: Database, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each, in the language of the rule, with the figures, and with one click to stop these mails."""
    now = utc_now()
    organization = await create_test_organization(quiet)
    await insert_user(quiet, User(UserId("ada"), ADDRESS, PASSWORD_HASH, (organization.id,), now))
    fields = {"name": "Prüfung", "kind": AlertKind.BROKEN_DESTINATION, "language": Language.DE}
    rule = await create_rule(quiet, organization.id, {**fields, "mail_to": (ADDRESS,)}, now)
    since = now - timedelta(hours=1)
    figures = {"url": "https://shop.example/", "problem": "does not answer", "since": since}
    broken = AlertCause("broken/l/destination_url", "p", since, figures)
    async with delivering(quiet, mailbox, utc_now, monkeypatch):
        for holding in ([broken], [broken], []):
            await tell(quiet, CHANNELS, rule, holding, now)
        await until(lambda: len(mailbox.messages) > 1, "the mails")
    arrived = mailbox.to(ADDRESS)
    subjects = {"Ziel nicht erreichbar: Prüfung", "Vorbei: Ziel nicht erreichbar: Prüfung"}
    assert (len(arrived), {message["Subject"] for message in arrived}) == (2, subjects)
    for message in arrived:
        text, html = (part.get_content() for part in message.iter_parts())
        assert "https://shop.example/ antwortet nicht, seit " in text
        assert "antwortet nicht, seit " in html
        stop = f"https://links.example/mail/alerts/stop/{rule.id}/{rule.unsubscribe_token(ADDRESS)}"
        assert message["List-Unsubscribe"] == f"<{stop}>"
        assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        assert stop in text

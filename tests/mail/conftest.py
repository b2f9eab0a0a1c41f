"""A mail server, and mails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from backend.domain.ids import OrgId
from backend.domain.mail.mail import Mail
from backend.environment import load_settings
from backend.mail import delivery
from backend.mail.delivery import MailDelivery
from backend.mail.server import MailServer
from backend.storage.driver.mongo import Database
from backend.system.clock import Clock
from tests.fresh_database import fresh_database
from tests.processes.smtp_server import Mailbox, smtp_server


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    """A mail server of this test's own."""
    with smtp_server() as mailbox:
        yield mailbox


@pytest.fixture(scope="module")
async def quiet(database: Database) -> AsyncIterator[Database]:
    """A database in which no service sends."""
    async with fresh_database(database) as fresh:
        yield fresh


def server_at(mailbox: Mailbox, **settings: str) -> MailServer:
    """The mail server, as the settings of a service name it."""
    return MailServer(load_settings(mailbox.settings | settings, Path("none")))


def mail_to(address: str, key: str, org_id: str = "o", unsubscribe_url: str | None = None) -> Mail:
    """A mail with some text."""
    subject, text, html = "Grüße", "Ja.\n.\nNein.\n", "<p>Ja. Nein.</p>"
    return Mail(OrgId(org_id), key, address, subject, text, html, unsubscribe_url)


@asynccontextmanager
async def delivering(
    database: Database, mailbox: Mailbox, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """A process that sends, for the length of the block."""
    monkeypatch.setattr(delivery, "STEP_SECONDS", 0.03)
    sending = MailDelivery(database, server_at(mailbox), clock)
    await sending.start()
    try:
        yield
    finally:
        await sending.stop()

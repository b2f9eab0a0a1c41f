"""Sends the mails that wait, in one process of all at a time."""

from __future__ import annotations

import logging
import random
from datetime import timedelta
from functools import partial

from prometheus_client import Counter

from backend.domain.mail.mail import MailFailure, QueuedMail, SmtpStep
from backend.mail.message import message_bytes, message_of
from backend.mail.server import MailServer, SmtpConnection, failing
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.storage.processes.items import Items
from backend.storage.processes.leased_task import LeasedTask
from backend.storage.processes.work import Work
from backend.storage.reports import recipients
from backend.system.clock import Clock

LEASE = "mail"
# Renewed before each mail. A mail may take longer: then two processes send, and none of them the same mail.
_LEASE_DURATION = timedelta(seconds=30)
# Seconds between two looks for mails.
STEP_SECONDS = 2.0
_MAILS_PER_STEP = 50
_ATTEMPTS = Counter("waylink_mail_attempts", "Attempts to send a mail.", ["outcome"])
_logger = logging.getLogger(__name__)


class MailDelivery(LeasedTask):
    """Sends mails in the background. A mail whose text is on its way when it stops is uncertain."""

    def __init__(self, database: Database, server: MailServer, clock: Clock) -> None:
        super().__init__(Work.MAILS, database, LEASE, _LEASE_DURATION)
        self._items = Items(database, Work.MAILS)
        self._server = server
        self._clock = clock

    async def step(self) -> float:
        """Send all mails that are due."""
        if await self.has_turn():
            await mails.end_interrupted(self._database, self._clock())
            await mails.end_outdated(self._database, self._clock())
            while await self._send_due():
                pass
        return STEP_SECONDS

    async def _send_due(self) -> bool:
        """Send the next mails by one connection. Returns whether more may be due."""
        waiting = await self._items.waiting()
        due = await mails.due_mails(self._database, self._clock(), _MAILS_PER_STEP, waiting)
        left = list(reversed(due))
        if not due:
            return False
        try:
            async with self._server.connected() as connection:
                while left and connection.is_open and await self.has_turn():
                    if not await self._items.one(left.pop(), partial(self._send, connection)):
                        return False  # nobody knows where the connection stands: the next step has another
        except MailFailure as failure:  # no mail of these can be sent now
            _logger.warning("Mails wait. %s", failure)
            await self._items.each(left, partial(self._fail, failure=failure))
            return False
        return not left and len(due) == _MAILS_PER_STEP

    async def _send(self, connection: SmtpConnection, queued: QueuedMail) -> None:
        mail = queued.mail
        try:
            with failing(SmtpStep.WRITE):
                message = message_bytes(message_of(mail, self._server.sender, self._clock()))
            await connection.name_addresses(mail.address)
            if not await mails.begin_sending(self._database, mail, self.holder, self._clock()):
                await connection.begin_again()
                return
            await connection.give_message(message)
        except MailFailure as failure:
            if failure.step is SmtpStep.SENDER:  # so will be all others
                _logger.warning("A mail waits. %s", failure)
            await self._fail(queued, failure)
        else:
            await mails.end_sent(self._database, mail, self.holder, self._clock())
            _ATTEMPTS.labels("sent").inc()

    async def _fail(self, queued: QueuedMail, failure: MailFailure) -> None:
        _ATTEMPTS.labels("failed").inc()
        chance = random.random()  # noqa: S311 - jitter
        await mails.end_failed(self._database, queued, self.holder, failure, self._clock(), chance=chance)
        if failure.refuses_address:
            await recipients.note_refusal(
                self._database, queued.mail.org_id, queued.mail.address, str(failure)
            )

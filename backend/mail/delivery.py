"""Sends the mails that wait, in one process of all at a time."""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from datetime import timedelta

from backend.concurrency.background_task import BackgroundTask
from backend.domain.mail.mail import MailFailure, QueuedMail, SmtpStep
from backend.mail.message import message_bytes, message_of
from backend.mail.server import MailServer, SmtpConnection
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.storage.processes.leases import end_lease, take_lease
from backend.storage.reports import recipients
from backend.system.clock import Clock

LEASE = "mail"
# Renewed before each mail. A mail may take longer: then two processes send, and none of them the same mail.
_LEASE_DURATION = timedelta(seconds=30)
# Seconds between two looks for mails.
STEP_SECONDS = 2.0
_MAILS_PER_STEP = 50
_logger = logging.getLogger(__name__)


class MailDelivery:
    """Sends mails in the background; without a mail server it does nothing."""

    def __init__(self, database: Database, server: MailServer | None, clock: Clock) -> None:
        self._database = database
        self._server = server
        self._clock = clock
        self._id = uuid.uuid4().hex
        self._task = BackgroundTask("sending mails", self._go_on)

    async def start(self) -> None:
        """Start to send, if a mail server is configured."""
        if self._server:
            await self._task.start()

    async def stop(self) -> None:
        """Stop. Another process goes on; a mail whose text is on its way is uncertain."""
        await self._task.stop()
        if self._server:
            await end_lease(self._database, LEASE, self._id)

    async def _go_on(self) -> None:
        assert self._server
        while True:
            if await self._has_turn():
                await mails.end_interrupted(self._database, self._clock())
                while await self._send_due(self._server):
                    pass
            await asyncio.sleep(STEP_SECONDS)

    async def _has_turn(self) -> bool:
        return await take_lease(self._database, LEASE, self._id, _LEASE_DURATION)

    async def _send_due(self, server: MailServer) -> bool:
        """Send the next mails by one connection. Returns whether more may be due."""
        due = await mails.due_mails(self._database, self._clock(), _MAILS_PER_STEP)
        left = list(reversed(due))
        if not due:
            return False
        try:
            async with server.connected() as connection:
                while left and connection.is_open and await self._has_turn():
                    await self._send(server, connection, left.pop())
        except MailFailure as failure:  # no mail of these can be sent now
            _logger.warning("Mails wait. %s", failure)
            for queued in left:
                await self._fail(queued, failure)
            return False
        return not left and len(due) == _MAILS_PER_STEP

    async def _send(self, server: MailServer, connection: SmtpConnection, queued: QueuedMail) -> None:
        mail = queued.mail
        try:
            message = message_bytes(message_of(mail, server.sender, self._clock()))
            await connection.name_addresses(mail.address)
            if not await mails.begin_sending(self._database, mail, self._id, self._clock()):
                await connection.begin_again()
                return
            await connection.give_message(message)
        except MailFailure as failure:
            if failure.step is SmtpStep.SENDER:  # so will be all others
                _logger.warning("A mail waits. %s", failure)
            await self._fail(queued, failure)
        else:
            await mails.end_sent(self._database, mail, self._id, self._clock())

    async def _fail(self, queued: QueuedMail, failure: MailFailure) -> None:
        chance = random.random()  # noqa: S311 - jitter
        await mails.end_failed(self._database, queued, failure, self._clock(), chance)
        if failure.refuses_address:
            await recipients.note_refusal(
                self._database, queued.mail.org_id, queued.mail.address, str(failure)
            )

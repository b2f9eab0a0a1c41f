"""Makes the mails with figures when they are due, in one process of all at a time."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from backend.domain.accounts.organizations import Organization
from backend.domain.errors import InvalidField, ItemUnknown
from backend.domain.reports.recipient import Recipient
from backend.domain.reports.report import Report
from backend.mail.composing import figures_mail
from backend.mail.figures.mailed import MailedReport
from backend.mail.figures.views import figures_of
from backend.settings import Settings
from backend.storage.accounts.organizations import UnknownOrganization, get_organization
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.storage.processes.items import Items
from backend.storage.processes.leased_task import LeasedTask
from backend.storage.processes.work import Work
from backend.storage.reports import recipients
from backend.storage.reports.reports import get_report
from backend.system.clock import Clock

LEASE = "report mails"
_LEASE_DURATION = timedelta(seconds=60)
# Seconds between two looks for recipients to whom a mail is due.
STEP_SECONDS = 10.0
_RECIPIENTS_PER_STEP = 20
# After figures could not be had.
_AGAIN_AFTER = timedelta(minutes=5)
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReportMailResources:
    """What making the mails needs."""

    database: Database
    analytics: Analytics
    settings: Settings
    clock: Clock


class ReportMails(LeasedTask):
    """Makes mails with figures in the background, for a service that has a mail server."""

    def __init__(self, resources: ReportMailResources) -> None:
        super().__init__(Work.FIGURES_BY_MAIL, resources.database, LEASE, _LEASE_DURATION)
        self._resources = resources
        self._items = Items(resources.database, Work.FIGURES_BY_MAIL)

    async def step(self) -> float:
        """Make the next mails that are due."""
        database, now = self._database, self._resources.clock
        if await self.has_turn():
            waiting = await self._items.waiting()
            for due in await recipients.due_recipients(database, now(), _RECIPIENTS_PER_STEP, waiting):
                if await self.has_turn():  # the one before may have taken a minute
                    await self._items.one(due, partial(make_due_mail, self._resources))
        return STEP_SECONDS


async def make_due_mail(resources: ReportMailResources, recipient: Recipient) -> None:
    """Queue the mail that is due to a recipient. Doing it twice makes one mail: its key has the period."""
    database, now = resources.database, resources.clock()
    next_at, error = recipient.next_after(now), None
    try:
        report = await get_report(database, recipient.org_id, recipient.report_id)
        if not report.is_over(now):
            await _queue(resources, report, recipient)
    except (ItemUnknown, UnknownOrganization):
        await recipients.remove_recipients_of(database, recipient.org_id, recipient.report_id)
        return
    except InvalidField as refused:
        error = f"The report can't be made any more: {refused.field} {refused.rule}"
    except (FactsNotReady, NoAnswer) as failure:
        _logger.warning("Figures for a mail can't be had, and are asked again: %s", failure)
        next_at, error = now + _AGAIN_AFTER, None
    await recipients.set_next(database, recipient, next_at, error)


async def figures_for(
    resources: ReportMailResources, organization: Organization, report: Report, reader: Recipient
) -> tuple[MailedReport, date]:
    """What the reader's mail of now shows, and the first day that it is about.

    Raises InvalidField where the report can't be made any more, and FactsNotReady and NoAnswer.
    """
    now = resources.clock()
    has_subscription = organization.has_subscription(now)
    database, analytics = resources.database, resources.analytics
    figures = await figures_of(database, analytics, report, reader, now, has_subscription=has_subscription)
    return figures, reader.period_at(now).start.astimezone(reader.zone).date()


async def _queue(resources: ReportMailResources, report: Report, recipient: Recipient) -> None:
    organization = await get_organization(resources.database, recipient.org_id)
    figures, first = await figures_for(resources, organization, report, recipient)
    base_url = resources.settings.base_url
    mail = figures_mail(base_url, organization.name, report, recipient, figures=figures, first=first)
    await mails.queue_mail(resources.database, mail, resources.clock())

"""Sends somebody who is signed in the mail that a report's readers would get now, to see what it is like."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from backend.domain.accounts.users import User
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.ids import OrgId
from backend.domain.mail.mail import MailResult
from backend.domain.reports.recipient import (
    RECIPIENT_DEFAULTS,
    TRIES_A_DAY,
    Recipient,
    RecipientId,
)
from backend.mail.composing import TRY_KEY, try_mail
from backend.mail.report_mails import ReportMailResources, figures_for
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.storage.mail import mails
from backend.storage.reports.reports import get_report

_DAY = timedelta(days=1)


async def send_try(
    resources: ReportMailResources, org_id: OrgId, user: User, fields: Mapping[str, Any]
) -> None:
    """Have a report's figures sent once to the user's own address.

    `fields` are the report, frequency, language and time zone, parsed by RECIPIENT_FIELDS. Raises ItemUnknown
    for the report, InvalidField, and FactsNotReady and NoAnswer where the figures can't be had.
    """
    database, now = resources.database, resources.clock()
    values = {**RECIPIENT_DEFAULTS, **fields}
    report = await get_report(database, org_id, values["report_id"])
    if report.is_over(now):
        raise InvalidField("report_id", "is closed: nobody gets its figures until it has a later end")
    address = EmailAddress().parse("address", user.email)
    if await mails.count_to(database, address, now - _DAY, None, f"/{TRY_KEY}") >= TRIES_A_DAY:
        raise InvalidField("address", f"got {TRIES_A_DAY} tries within a day; go on tomorrow")
    reader = Recipient(
        id=RecipientId(user.id),
        org_id=org_id,
        report_id=report.id,
        address=address,
        frequency=values["frequency"],
        language=values["language"],
        timezone=values["timezone"].key,
        created_at=now,
        token="",
    )
    organization = await get_organization(database, org_id)
    figures, _ = await figures_for(resources, organization, report, reader)
    key = f"{TRY_KEY}{user.id}/{uuid.uuid4()}"
    base_url = resources.settings.base_url
    mail = try_mail(base_url, organization.name, report, reader, figures=figures, key=key)
    await mails.queue_mail(database, mail, now)


async def last_try(database: Database, org_id: OrgId, user: User) -> MailResult | None:
    """What became of the user's last try; None if there was none."""
    return (await mails.last_of_each(database, org_id, TRY_KEY)).get(user.id)

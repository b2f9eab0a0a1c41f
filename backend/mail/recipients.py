"""Asks people whether they want the figures of a report, and stops their mails, also with the report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.ids import OrgId
from backend.domain.mail.mail import MailResult
from backend.domain.reports.recipient import (
    ASKED_A_DAY,
    ASKED_BY_ORGANIZATION_A_DAY,
    ASKED_IN_VAIN,
    RECIPIENT_DEFAULTS,
    Recipient,
    RecipientId,
    RecipientState,
)
from backend.mail.composing import CONFIRM_KEY, FIGURES_KEY, confirmation_mail
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.mail import mails
from backend.storage.reports import recipients
from backend.storage.reports.reports import delete_report, get_report

_DAY = timedelta(days=1)


async def ask_to_confirm(
    database: Database, base_url: str, org_id: OrgId, fields: Mapping[str, Any], now: datetime
) -> Recipient:
    """Make somebody a recipient, and send them the mail that asks whether they want that.

    Who has confirmed already is not asked again. `fields` are parsed by RECIPIENT_FIELDS. Raises
    ItemUnknown for the report, InvalidField for the address, and for a report that is not mailed.
    """
    values = {**RECIPIENT_DEFAULTS, **fields}
    report = await get_report(database, org_id, values["report_id"])
    if not report.kind.is_mailed:
        raise InvalidField("report_id", f"must not be of {report.kind}, which mails can't show")
    former = await recipients.find_recipient(database, org_id, values)
    if former and former.state is RecipientState.CONFIRMED:
        return former
    await _check_limits(database, org_id, values["address"], now)
    organization = await get_organization(database, org_id)

    async def ask(recipient: Recipient, session: ClientSession) -> None:
        mail = confirmation_mail(base_url, organization.name, report, recipient)
        await mails.queue_mail_within(database, mail, now, session)

    return await recipients.ask_recipient(database, org_id, values, now, ask)


async def unsubscribe(database: Database, token: str) -> Recipient | None:
    """Stop the mails of whoever has this token, also those that wait; None if nobody has it."""
    recipient = await recipients.unsubscribe_recipient(database, token)
    if recipient:
        await _drop_waiting(database, recipient)
    return recipient


async def remove(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete a recipient of the organization, and the mails that wait. Raises ItemUnknown."""
    await _drop_waiting(database, await recipients.remove_recipient(database, org_id, given_id))


async def delete_report_and_mails(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete a report with its recipients, and the mails of it that wait. Raises ItemUnknown."""
    readers = await recipients.list_recipients(database, org_id)
    await delete_report(database, org_id, given_id)
    for reader in readers:
        if reader.report_id == given_id:
            await _drop_waiting(database, reader)


async def last_mails(
    database: Database, org_id: OrgId, of: list[Recipient]
) -> Mapping[RecipientId, MailResult]:
    """What became of the last mail to each of these recipients, for those who were sent one."""
    of_kinds = [await mails.last_of_each(database, org_id, kind) for kind in (FIGURES_KEY, CONFIRM_KEY)]
    last = {}
    for recipient in of:
        if found := [results[recipient.id] for results in of_kinds if recipient.id in results]:
            last[recipient.id] = max(found, key=lambda result: result.created_at)
    return last


async def _drop_waiting(database: Database, recipient: Recipient) -> None:
    for kind in (FIGURES_KEY, CONFIRM_KEY):
        await mails.drop_waiting(database, recipient.org_id, recipient.address, f"{kind}{recipient.id}/")


async def _check_limits(database: Database, org_id: OrgId, address: str, now: datetime) -> None:
    """Raise InvalidField where one more mail would be a nuisance, whoever sends it."""
    if await mails.count_to(database, address, now - _DAY, None, f"/{CONFIRM_KEY}") >= ASKED_A_DAY:
        raise InvalidField(
            "address", f"was asked {ASKED_A_DAY} times within a day, which has to be enough; try tomorrow"
        )
    if await mails.count_of(database, org_id, now - _DAY, CONFIRM_KEY) >= ASKED_BY_ORGANIZATION_A_DAY:
        raise InvalidField(
            "address",
            f"can't be asked today: your organization has asked {ASKED_BY_ORGANIZATION_A_DAY} within a day",
        )
    in_vain = await mails.count_to(database, address, now - mails.KEPT, org_id, CONFIRM_KEY)
    if in_vain >= ASKED_IN_VAIN:
        raise InvalidField(
            "address", f"was asked {ASKED_IN_VAIN} times within a hundred days; ask the person another way"
        )

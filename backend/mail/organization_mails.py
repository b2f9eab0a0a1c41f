"""Mails to owners about the whole organization: an archive that is ready, and a deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from babel.numbers import format_decimal

from backend.domain.accounts.deletion import AnnouncedDeletion
from backend.domain.accounts.organizations import Organization
from backend.domain.archives.archive import Archive
from backend.domain.mail.language import Language
from backend.domain.mail.mail import Mail
from backend.domain.reports.recipient import unlinked
from backend.mail.composing import one_link
from backend.mail.numbers import day_in
from backend.storage.driver.mongo import Database
from backend.storage.mail.mails import queue_mail

ARCHIVES_PATH, DELETION_PATH = "/archives", "/settings/deletion"


def archive_mail(base_url: str, organization: Organization, archive: Archive) -> Mail:
    """The mail that tells whoever asked for an archive that it is ready. The archive names an address."""
    assert archive.mail_to
    language = archive.language
    names = {
        "organization": unlinked(organization.name),
        "size": f"{format_decimal(round(archive.size / 1e6, 1), locale=language.value)} MB",
        "date": day_in(language, archive.expires_at),
    }
    subject, text, html = one_link(language, "archive", names, f"{base_url}{ARCHIVES_PATH}")
    return Mail(archive.org_id, f"archive/{archive.id}", archive.mail_to, subject, text, html)


async def mail_announcement(
    database: Database,
    base_url: str,
    organization: Organization,
    deletion: AnnouncedDeletion,
    *,
    addresses: Sequence[str],
    language: Language,
    now: datetime,
) -> None:
    """Queue the mails that tell these owners of the deletion."""
    names = {
        "organization": unlinked(organization.name),
        "by": unlinked(deletion.asked_by),
        "date": day_in(language, deletion.at),
        "at": f"{day_in(language, deletion.at)}, {deletion.at:%H:%M}",
    }
    texts = one_link(language, "deletion", names, f"{base_url}{DELETION_PATH}")
    await _queue(database, deletion, "announced", texts, addresses=addresses, now=now)


async def mail_taken_back(
    database: Database,
    base_url: str,
    organization: Organization,
    deletion: AnnouncedDeletion,
    *,
    taken_back_by: str,
    addresses: Sequence[str],
    language: Language,
    now: datetime,
) -> None:
    """Queue the mails that tell these owners that the deletion was taken back."""
    names: Mapping[str, str] = {
        "organization": unlinked(organization.name),
        "by": unlinked(taken_back_by),
    }
    texts = one_link(language, "deletion_taken_back", names, f"{base_url}/")
    await _queue(database, deletion, "taken-back", texts, addresses=addresses, now=now)


async def _queue(
    database: Database,
    deletion: AnnouncedDeletion,
    what: str,
    texts: tuple[str, str, str],
    *,
    addresses: Sequence[str],
    now: datetime,
) -> None:
    for address in addresses:
        key = f"deletion/{deletion.asked_at.isoformat()}/{what}/{address}"
        await queue_mail(database, Mail(deletion.org_id, key, address, *texts), now)

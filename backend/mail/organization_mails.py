"""Mails to owners about the whole organization."""

from __future__ import annotations

from babel.numbers import format_decimal

from backend.domain.accounts.organizations import Organization
from backend.domain.archives.archive import Archive
from backend.domain.mail.mail import Mail
from backend.domain.reports.recipient import unlinked
from backend.mail.composing import one_link
from backend.mail.numbers import day_in

ARCHIVES_PATH = "/archives"


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

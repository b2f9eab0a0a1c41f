"""Mails to owners about the whole organization: an archive that is ready, and a deletion."""

from __future__ import annotations

from babel.numbers import format_decimal

from backend.domain.accounts.deletion import AnnouncedDeletion
from backend.domain.accounts.organizations import Organization
from backend.domain.archives.archive import Archive
from backend.domain.fields.email_addresses import address_hash
from backend.domain.mail.language import Language
from backend.domain.mail.mail import Mail
from backend.domain.reports.recipient import unlinked
from backend.mail.composing import one_link
from backend.mail.numbers import day_in

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
    return Mail(
        archive.org_id,
        f"archive/{archive.id}",
        archive.mail_to,
        subject,
        text,
        html,
        until=archive.expires_at,
        to_member=True,
    )


def deletion_mail(
    base_url: str,
    organization: Organization,
    deletion: AnnouncedDeletion,
    language: Language,
    address: str,
    *,
    taken_back_by: str | None = None,
) -> Mail:
    """The mail that tells an owner of the deletion; with `taken_back_by`, that it was taken back."""
    names = {
        "organization": unlinked(organization.name),
        "by": unlinked(taken_back_by or deletion.asked_by),
        "date": day_in(language, deletion.at),
        "at": f"{day_in(language, deletion.at)}, {deletion.at:%H:%M}",
    }
    section, path = ("deletion_taken_back", "/") if taken_back_by else ("deletion", DELETION_PATH)
    subject, text, html = one_link(language, section, names, f"{base_url}{path}")
    key = f"{section}/{deletion.asked_at.isoformat()}/{address_hash(address)[:32]}"
    return Mail(deletion.org_id, key, address, subject, text, html, to_member=True)

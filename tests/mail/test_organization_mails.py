"""Mails to owners about the whole organization."""

from __future__ import annotations

from datetime import UTC, datetime

from backend.domain.accounts.deletion import AnnouncedDeletion
from backend.domain.accounts.organizations import Organization
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.mail.organization_mails import deletion_mail

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_keys_of_mails_about_a_deletion_name_nobody() -> None:
    """Logs and the doctor name a mail that fails by its key. Each owner gets one that it is announced, and
    one that it was taken back."""
    organization = Organization(OrgId("o"), "Acme", NOW)
    announced = AnnouncedDeletion(organization.id, "ada@shop.example", NOW)
    mails = [
        deletion_mail(
            "https://waylink.example",
            organization,
            announced,
            Language.EN,
            owner,
            taken_back_by=taken_back_by,
        )
        for owner in ("ada@shop.example", "bob@shop.example")
        for taken_back_by in (None, "bob@shop.example")
    ]
    assert len({mail.key for mail in mails}) == 4
    assert not [mail.key for mail in mails if "@" in mail.key]

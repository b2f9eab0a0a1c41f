"""The languages that mails are written in."""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """A language of mails. Most texts are in a file of that name in backend/mail/languages."""

    EN = "en"
    DE = "de"

"""Who reads a page: the language of mails to them, and what their browser is called."""

from __future__ import annotations

from quart import request

from backend.domain.accounts.sessions import client_words
from backend.domain.mail.language import Language
from backend.domain.web.accept_language import preferred_languages
from backend.web.current import header


def mail_language() -> Language:
    """The language that the current request's browser prefers, of those that mails are written in."""
    tags = preferred_languages((header(b"accept-language") or "").encode("latin-1", "replace"))
    regionless = (tag.partition("-")[0] for tag in tags)
    return next((Language(tag) for tag in regionless if tag in set(Language)), Language.EN)


def browser_words() -> str:
    """The browser and system of the current request in words, such as "Firefox on Linux"."""
    return client_words(request.headers.get("User-Agent", ""))

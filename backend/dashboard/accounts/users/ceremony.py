"""What the current request's browser is asked for, and answers, about passkeys."""

from __future__ import annotations

from backend.dashboard.frame.session_cookie import cookie_token
from backend.storage.accounts.users.passkey_ceremony import Ceremony
from backend.web.current import resources


def ceremony() -> Ceremony:
    """The ceremony of this browser, at the address that the service has."""
    return Ceremony(resources().settings.base_url, cookie_token(), resources().clock())

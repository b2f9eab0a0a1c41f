"""One-time texts that carry a link over the App Store, in the clipboard of the phone.

A visitor who taps the button of the page before the App Store copies the text, and the app sends it at its
first launch (decisions, "clipboard-texts").
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.domain.ids import LinkId, OrgId
from backend.domain.web.base64url import base64url

# How long a text can be redeemed.
KEPT = timedelta(days=1)
# Random bytes in a text: nobody guesses one.
TOKEN_BYTES = 16
_MARK = "#cl_clipboard="
# At the end of what the app read, since people copy nothing behind it.
_TEXT = re.compile(re.escape(_MARK) + r"([A-Za-z0-9_-]{22})\s*\Z")


@dataclass(frozen=True, slots=True)
class ClipboardText:
    """What is stored of a text: whose it is, and the link that the visitor tapped.

    `id` does not show the text. `candidate_id` is that of the same tap's match by address, which the text
    uses up; None if the address was not kept.
    """

    id: str
    org_id: OrgId
    app_id: str
    link_id: LinkId
    candidate_id: str | None
    expires_at: datetime


def write_text(short_url: str, token: bytes) -> str:
    """The text for a tap on this short URL, from `TOKEN_BYTES` random bytes.

    It is an address, so that an app learns without a question to its user whether the clipboard may have it
    (`detectPatterns`). Behind the `#`, no browser sends the token to anybody.
    """
    return f"{short_url}{_MARK}{base64url(token)}"


def id_of_text(text: str) -> str | None:
    """The id of the text that an app read from the clipboard; None if it is none of ours."""
    found = _TEXT.search(text)
    return hashlib.sha256(found[1].encode()).hexdigest() if found else None

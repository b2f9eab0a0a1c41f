"""Dashboard sessions: a random token in the browser's cookie stands for a signed-in user."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from backend.domain.ids import OrgId, UserId

# Counted from the sign-in: using a session does not extend it.
SESSION_DURATION = timedelta(days=7)
# The provider hears of who leaves first: this is how long Waylink may not know yet.
PROVIDER_SESSION_DURATION = timedelta(hours=12)
# For how long somebody whose password was right may send the code of the second factor.
CODE_DURATION = timedelta(minutes=10)
# How exact a session says when it was used last: each time costs a write.
SEEN_EVERY = timedelta(hours=1)
# What a User-Agent has in it, and what people call that. The first that is there counts.
_BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "CriOS/": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


class SignInWay(StrEnum):
    """How a session began, in words that complete "signed in"."""

    PASSWORD = "with the password"  # noqa: S105 - words of a page
    CODE = "with the password and a code"
    PASSKEY = "with a passkey"
    PROVIDER = "by single sign-on"


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user until `expires_at`. `org_id` is the organization that the dashboard shows.

    With `provider_org_id`, it began through that organization's identity provider. Whoever runs the provider
    can so sign in as each of its members: the session gives access to that organization and to nothing else.

    With `awaits_code`, the password was right, and nobody is signed in until the second factor is shown.
    `client` is the browser in words, as `client_words` has them. `seen_at` is when it was used last, exact to
    SEEN_EVERY.
    """

    token_hash: str
    user_id: UserId
    org_id: OrgId
    created_at: datetime
    expires_at: datetime
    awaits_code: bool = False
    client: str = ""
    seen_at: datetime | None = None
    way: SignInWay = SignInWay.PASSWORD
    provider_org_id: OrgId | None = None


def new_session(
    token: str,
    user_id: UserId,
    org_id: OrgId,
    now: datetime,
    client: str = "",
    *,
    way: SignInWay = SignInWay.PASSWORD,
) -> Session:
    """A new session for this token, which starts now."""
    ends = now + SESSION_DURATION
    return Session(hash_token(token), user_id, org_id, now, ends, client=client, seen_at=now, way=way)


def new_provider_session(
    token: str, user_id: UserId, org_id: OrgId, now: datetime, client: str = ""
) -> Session:
    """A new session for this token, which starts now, through the organization's provider."""
    begun = new_session(token, user_id, org_id, now, client, way=SignInWay.PROVIDER)
    return replace(begun, expires_at=now + PROVIDER_SESSION_DURATION, provider_org_id=org_id)


def client_words(user_agent: str) -> str:
    """The browser and system of a User-Agent in words; "" if neither is known."""
    browser, system = (
        next((name for part, name in names.items() if part in user_agent), "")
        for names in (_BROWSERS, _SYSTEMS)
    )
    return " on ".join(word for word in (browser, system) if word)


def awaiting_session(token: str, user_id: UserId, org_id: OrgId, now: datetime) -> Session:
    """One for this token that awaits the code of the second factor."""
    return Session(hash_token(token), user_id, org_id, now, now + CODE_DURATION, awaits_code=True)


def hash_token(token: str) -> str:
    """SHA-256 of a session token, in hex. Only this is stored, so a stolen database lets nobody sign in."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(token: str, written_for: str = "") -> str:
    """The token that every form contains, derived from the cookie's token. Other sites know neither.

    It says for which organization the form was written ("" for none) and has a keyed hash: if a page leaks
    it, the session itself stays safe.
    """
    signed = f"waylink form {written_for}".encode("utf-8", "surrogatepass")
    key = token.encode("utf-8", "surrogatepass")
    return f"{hmac.new(key, signed, hashlib.sha256).hexdigest()}.{written_for}"


def organization_of_form(sent_token: str, token: str) -> str | None:
    """The organization for which the form with this token was written, "" if for none.

    None if the form does not belong to the session of `token`. All values of a length take the same time.
    """
    written_for = sent_token.partition(".")[2]
    sent, own = (
        text.encode("utf-8", "surrogatepass") for text in (sent_token, form_token(token, written_for))
    )
    return written_for if hmac.compare_digest(sent, own) else None

"""An attempt to sign in by a provider: what the browser takes there and has to bring back. Nothing is stored.

State, nonce and code verifier follow from the token in the browser's cookie. So an answer of the provider is
worth something in that browser only, and a page that strangers may open as often as they like writes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

from backend.domain.accounts.single_sign_on.metadata import ProviderMetadata
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.ids import OrgId
from backend.domain.web.base64url import base64url, from_base64url

# How long somebody may take at the provider.
ATTEMPT_DURATION = timedelta(minutes=10)
SALT_BYTES = 16
_TIME_BYTES = 8
_MARK_BYTES = 32
# The state is part of an address. Whoever wanted a page with a longer one gets to the first page.
_LONGEST_FOLLOWING = 300


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt at an organization's provider, begun in one browser. `following` is where it goes on to."""

    state: str
    nonce: str
    code_verifier: str
    begun_at: datetime
    following: str

    def is_over(self, now: datetime) -> bool:
        """Whether it took too long."""
        return now - self.begun_at > ATTEMPT_DURATION

    def authorization_url(self, provider: IdentityProvider, metadata: ProviderMetadata, back_to: str) -> str:
        """Where the provider asks who somebody is: the authorization code flow, with PKCE by S256."""
        challenge = hashlib.sha256(self.code_verifier.encode("ascii")).digest()
        arguments = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": back_to,
            "scope": " ".join(metadata.scopes_with(provider.groups_claim)),
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": base64url(challenge),
            "code_challenge_method": "S256",
        }
        separator = "&" if urlsplit(metadata.authorization_endpoint).query else "?"
        return f"{metadata.authorization_endpoint}{separator}{urlencode(arguments)}"


def new_attempt(token: str, org_id: OrgId, salt: bytes, now: datetime, following: str) -> SignInAttempt:
    """An attempt in the browser with this token in its cookie. `salt` is SALT_BYTES random bytes."""
    path = following.encode() if len(following.encode()) <= _LONGEST_FOLLOWING else b"/"
    content = salt + int(now.timestamp()).to_bytes(_TIME_BYTES) + path
    return _attempt(token, base64url(_mark(token, org_id, content) + content), content)


def find_attempt(token: str, org_id: OrgId, state: str) -> SignInAttempt | None:
    """The attempt with this state; None unless it was begun in this browser, for this organization."""
    try:
        sent = from_base64url(state)
    except ValueError:
        return None
    mark, content = sent[:_MARK_BYTES], sent[_MARK_BYTES:]
    if len(content) <= SALT_BYTES + _TIME_BYTES:
        return None
    return (
        _attempt(token, state, content) if hmac.compare_digest(mark, _mark(token, org_id, content)) else None
    )


def _attempt(token: str, state: str, content: bytes) -> SignInAttempt:
    begun = int.from_bytes(content[SALT_BYTES : SALT_BYTES + _TIME_BYTES])
    return SignInAttempt(
        state=state,
        nonce=base64url(_derived(token, b"nonce", content)),
        code_verifier=base64url(_derived(token, b"code verifier", content)),
        begun_at=datetime.fromtimestamp(begun, UTC),
        following=content[SALT_BYTES + _TIME_BYTES :].decode(),
    )


def _mark(token: str, org_id: OrgId, content: bytes) -> bytes:
    return _derived(token, b"state " + org_id.encode(), content)


def _derived(token: str, purpose: bytes, content: bytes) -> bytes:
    key = token.encode("utf-8", "surrogatepass")
    return hmac.digest(key, b"waylink single sign-on " + purpose + b"\0" + content, "sha256")

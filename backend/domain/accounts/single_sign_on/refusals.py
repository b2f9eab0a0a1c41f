"""Why somebody was not let in by the provider: what they are told, and what the owner is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

_LONGEST_DETAIL = 300


class Refusal(StrEnum):
    """What was wrong with a sign-in."""

    UNREACHABLE = "unreachable"
    DENIED = "denied"
    PROVIDER_ERROR = "provider_error"
    CLIENT_REFUSED = "client_refused"
    EXPIRED = "expired"
    ANOTHER_BROWSER = "another_browser"
    CLOCK = "clock"
    INVALID_TOKEN = "invalid_token"  # noqa: S105 - a reason
    NO_EMAIL = "no_email"
    EMAIL_NOT_VERIFIED = "email_not_verified"
    OTHER_DOMAIN = "other_domain"
    ADDRESS_OF_ANOTHER = "address_of_another"
    NO_ROLE = "no_role"
    SHUT_OUT = "shut_out"
    PROVIDER_CHANGED = "provider_changed"


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """What a page says to somebody who was not let in: what happened, and what to do next; and what the owner
    can do about it."""

    title: str
    next_step: str
    for_owner: str


class SignInRefused(Exception):
    """Nobody is signed in. `detail` are facts for the owner, `email` is the address that came."""

    def __init__(self, refusal: Refusal, detail: str = "", email: str = "") -> None:
        super().__init__(f"{refusal.value}: {detail}")
        self.refusal = refusal
        self.detail = "".join(character if character.isprintable() else " " for character in detail)
        self.detail = self.detail[:_LONGEST_DETAIL]
        self.email = email


@dataclass(frozen=True, slots=True)
class RefusedSignIn:
    """A sign-in that was refused, as the owner sees it."""

    refusal: Refusal
    detail: str
    email: str
    at: datetime

    @property
    def for_owner(self) -> str:
        """What the owner can do about it."""
        return REFUSAL_WORDS[self.refusal].for_owner


_TELL_OWNER = "Tell an owner of your organization, who sees the reason on the page Single sign-on."
REFUSAL_WORDS: Mapping[Refusal, RefusalWords] = {
    Refusal.UNREACHABLE: RefusalWords(
        "Your identity provider does not answer",
        f"Try again in a minute. If it goes on: {_TELL_OWNER}",
        "The service can't read what it needs from the provider. Save the form above: it says what is wrong.",
    ),
    Refusal.DENIED: RefusalWords(
        "Your identity provider did not let you go on",
        "You stopped there, or may not use Waylink. Try again, or ask who runs the provider to assign it.",
        "The person stopped, or the provider has not assigned this application to them.",
    ),
    Refusal.PROVIDER_ERROR: RefusalWords(
        "Your identity provider reports an error",
        f"Try again. If it goes on: {_TELL_OWNER}",
        "What the provider answered stands beside it. Check the redirect URI and the scopes at the provider.",
    ),
    Refusal.CLIENT_REFUSED: RefusalWords(
        "Your identity provider refuses this service",
        _TELL_OWNER,
        "Client id or client secret are not right any more. Make a new secret there, and type it above.",
    ),
    Refusal.EXPIRED: RefusalWords(
        "That took too long",
        "A sign-in has to be done within ten minutes. Try again.",
        "The person took longer than ten minutes at the provider.",
    ),
    Refusal.ANOTHER_BROWSER: RefusalWords(
        "This sign-in was not begun in this browser",
        "It was begun in another browser, or another sign-in came between. Try again.",
        "The answer of the provider came to a browser that had not asked.",
    ),
    Refusal.CLOCK: RefusalWords(
        "The clocks of your identity provider and of this service differ",
        _TELL_OWNER,
        "The provider's clock and this service's are over two minutes apart. Whoever runs them sets them.",
    ),
    Refusal.INVALID_TOKEN: RefusalWords(
        "What your identity provider sent is not valid",
        f"Try again. If it goes on: {_TELL_OWNER}",
        "The ID token was not signed by the provider's keys for this client and this sign-in.",
    ),
    Refusal.NO_EMAIL: RefusalWords(
        "Your identity provider told no e-mail address that can be used",
        _TELL_OWNER,
        "Let the provider send the claim email, for the scope email. What is wrong with one that came stands "
        "beside it.",
    ),
    Refusal.EMAIL_NOT_VERIFIED: RefusalWords(
        "Your identity provider has not verified your e-mail address",
        "Verify it there, then try again.",
        "The provider does not say email_verified: true. If it verifies all addresses without saying so, "
        "tick it above.",
    ),
    Refusal.OTHER_DOMAIN: RefusalWords(
        "Your e-mail address is of another domain",
        f"Choose your address at work at the provider. {_TELL_OWNER}",
        "The address is of none of the domains above.",
    ),
    Refusal.ADDRESS_OF_ANOTHER: RefusalWords(
        "Your e-mail address belongs to another person's account",
        _TELL_OWNER,
        "Another person of the provider signed in with this address before. If they have left, remove them "
        "on the page Members.",
    ),
    Refusal.SHUT_OUT: RefusalWords(
        "Your identity provider has shut you out of Waylink",
        "Ask who runs the provider to assign it to you, then try again.",
        "The provider told by SCIM that the person is not active any more. Activate them there.",
    ),
    Refusal.PROVIDER_CHANGED: RefusalWords(
        "Your organization changed its identity provider just now",
        "Try again.",
        "The person was signing in while the provider above was changed or taken away.",
    ),
    Refusal.NO_ROLE: RefusalWords(
        "None of your groups has a role here",
        "Ask an owner of your organization for a group that has one, then try again.",
        "Give one of the person's groups a role, or everybody else. The groups below are as the provider "
        "told them.",
    ),
}

"""Who the provider says has signed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from backend.domain.accounts.single_sign_on.provider import IdentityProvider, is_of_domains
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress

_LONGEST_SUBJECT = 255  # OpenID Connect Core 1.0, section 2: `sub`
# A token of Microsoft Entra has 200 groups at most.
_MOST_GROUPS = 2_000


@dataclass(frozen=True, slots=True)
class ProvidedPerson:
    """A person of a provider. Issuer and subject say who it is; an e-mail address may become another's.

    `email` is in its normal form. If it is empty, `email_problem` says why. `is_email_verified` is None where
    the provider does not say.
    """

    issuer: str
    subject: str
    email: str = ""
    email_problem: str = ""
    is_email_verified: bool | None = None
    groups: tuple[str, ...] = ()


def provided_person(issuer: str, claims: Mapping[str, object], groups_claim: str) -> ProvidedPerson:
    """The person of an ID token's claims, which were verified. Raises SignInRefused."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject.isascii() or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise SignInRefused(Refusal.INVALID_TOKEN, "sub is not 1 to 255 characters of ASCII")
    return ProvidedPerson(
        issuer,
        subject,
        *_email(claims),
        _truth(claims.get("email_verified")),
        _groups(claims.get(groups_claim)),
    )


def check_address(provider: IdentityProvider, person: ProvidedPerson) -> None:
    """Raise SignInRefused unless the address can stand for the person, and people who have it may enter."""
    if not person.email:
        raise SignInRefused(Refusal.NO_EMAIL, person.email_problem)
    check_domain(provider, person)
    if not (provider.vouches_for_emails if person.is_email_verified is None else person.is_email_verified):
        raise SignInRefused(Refusal.EMAIL_NOT_VERIFIED, email=person.email)


def check_domain(provider: IdentityProvider, person: ProvidedPerson) -> None:
    """Raise SignInRefused if the provider told an address of a domain that the owner does not let in."""
    if person.email and not is_of_domains(person.email, provider.email_domains):
        raise SignInRefused(Refusal.OTHER_DOMAIN, email=person.email)


def _email(claims: Mapping[str, object]) -> tuple[str, str]:
    """The address, and what is wrong with the claim if there is none."""
    if "email" not in claims:
        return "", ""
    try:
        return EmailAddress().parse("email", claims["email"]), ""
    except InvalidField as error:
        return "", f"{claims['email']!r}: {error}"


def _truth(value: object) -> bool | None:
    """Some providers send "true" as a text."""
    return None if value is None else value is True or value == "true"


def _groups(value: object) -> tuple[str, ...]:
    """A provider may send a single group as a text."""
    names = value if isinstance(value, list) else [value]
    return tuple(name for name in names[:_MOST_GROUPS] if isinstance(name, str))

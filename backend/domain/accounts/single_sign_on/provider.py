"""An organization's identity provider: where it is, as whom the service asks it, what it believes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.fields.rules import HostName, Rule, Schema, Text, parse_string
from backend.domain.ids import OrgId

DEFAULT_GROUPS_CLAIM = "groups"
_MOST_EMAIL_DOMAINS = 50
# What every provider has at this place below its issuer (OpenID Connect Discovery 1.0, section 4).
DISCOVERY_PATH = "/.well-known/openid-configuration"
_SIGN_IN_PATH = "/sign-in/single"
_CLIENT_TEXT = Text(500)


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """A provider, known by its `issuer`, and this service's registration there as a client.

    Only people with an address of one of `email_domains` are let in; without any, with every address. With
    `vouches_for_emails`, an address counts as verified where the provider does not say whether it is.
    `groups_claim` is the claim with the names of somebody's groups.
    """

    issuer: str
    client_id: str
    client_secret: str
    email_domains: tuple[str, ...] = ()
    vouches_for_emails: bool = False
    groups_claim: str = DEFAULT_GROUPS_CLAIM

    @property
    def discovery_url(self) -> str:
        """Where the provider describes itself."""
        return self.issuer.rstrip("/") + DISCOVERY_PATH

    @property
    def host(self) -> str:
        """What people know the provider by."""
        return urlsplit(self.issuer).hostname or self.issuer

    def is_client_of(self, other: IdentityProvider | None) -> bool:
        """Whether both are the same client of the same provider, which so knows people by the same ids."""
        return other is not None and (self.issuer, self.client_id) == (other.issuer, other.client_id)


@dataclass(frozen=True, slots=True)
class IssuerUrl:
    """The rule for an issuer: an https URL without a query; of this machine with `allows_loopback`."""

    allows_loopback: bool = False

    def parse(self, field: str, value: object) -> str:
        """The URL, without the path of the discovery document, which some copy along. Raises InvalidField."""
        url = ReceiverUrl(self.allows_loopback).parse(field, value).removesuffix(DISCOVERY_PATH)
        if "?" in url:
            raise InvalidField(field, "must not have a query (?…)")
        return url

    def schema(self) -> Schema:
        """JSON Schema of the URL."""
        return ReceiverUrl(self.allows_loopback).schema()


class EmailDomains:
    """The rule for a list of domains of e-mail addresses. One that is there twice is kept once."""

    def parse(self, field: str, value: object) -> tuple[str, ...]:
        """The domains in their normal form, in their order. Raises InvalidField."""
        if not isinstance(value, list):
            raise InvalidField(field, "must be a list of domains")
        names = (parse_string(field, name).removeprefix("@") for name in value)
        domains = tuple(dict.fromkeys(HostName().parse(field, name) for name in names))
        if len(domains) > _MOST_EMAIL_DOMAINS:
            raise InvalidField(field, f"must have at most {_MOST_EMAIL_DOMAINS} domains")
        return domains

    def schema(self) -> Schema:
        """JSON Schema of the list."""
        return {"type": "array", "items": HostName().schema()}


def provider_fields(*, allows_loopback: bool) -> Mapping[str, Rule[Any]]:
    """The rule of each field of a provider that is text or a list of texts, by its name."""
    return {
        "issuer": IssuerUrl(allows_loopback),
        "client_id": _CLIENT_TEXT,
        "client_secret": _CLIENT_TEXT,
        "email_domains": EmailDomains(),
        "groups_claim": Text(200),
    }


def is_of_domains(email: str, domains: Iterable[str]) -> bool:
    """Whether an address in its normal form is of one of these domains, or there are none."""
    allowed = tuple(domains)
    return not allowed or email.rpartition("@")[2] in allowed


def sign_in_path(org_id: OrgId) -> str:
    """The path at which the organization's people begin to sign in, which they may bookmark."""
    return f"{_SIGN_IN_PATH}/{org_id}"


def redirect_uri(base_url: str, org_id: OrgId) -> str:
    """Where the provider sends people back to. Each organization has its own: no provider can so answer for
    another one's (RFC 9700, section 4.4)."""
    return f"{base_url}{sign_in_path(org_id)}/callback"

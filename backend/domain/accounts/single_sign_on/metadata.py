"""What a provider says about itself in its discovery document, as far as the service needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.receiver_url import ReceiverUrl

# Signatures by a key of the provider that everybody may read. Never `none`, nor one by the client's secret.
ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
# How the service shows the client's secret, the best first. The first one is every provider's default.
_TOKEN_AUTHENTICATION = ("client_secret_basic", "client_secret_post")
_SCOPES = ("openid", "email", "profile")


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """A provider's addresses, and what it is able to do."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    algorithms: tuple[str, ...]
    token_authentication: str
    scopes: tuple[str, ...]
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None

    def scopes_with(self, groups_claim: str) -> tuple[str, ...]:
        """The scopes to ask for. Some providers tell groups for a scope of the claim's name, which others
        refuse as unknown."""
        return (*_SCOPES, groups_claim) if groups_claim in self.scopes else _SCOPES


def parse_metadata(document: object, issuer: str, address: ReceiverUrl) -> ProviderMetadata:
    """The metadata in a discovery document that was found at this issuer's.

    Raises InvalidField, which names the document's field.
    """
    if not isinstance(document, Mapping):
        raise InvalidField("the document", "is not a JSON object")
    if document.get("issuer") != issuer:
        # A document of another issuer could name keys that are not this one's.
        raise InvalidField("issuer", f"is {str(document.get('issuer'))[:200]!r}: type it exactly so")
    return ProviderMetadata(
        issuer=issuer,
        authorization_endpoint=address.parse(
            "authorization_endpoint", document.get("authorization_endpoint")
        ),
        token_endpoint=address.parse("token_endpoint", document.get("token_endpoint")),
        jwks_uri=address.parse("jwks_uri", document.get("jwks_uri")),
        algorithms=_algorithms(document),
        token_authentication=_token_authentication(document),
        scopes=tuple(_words(document, "scopes_supported", ())),
        userinfo_endpoint=_optional(document, "userinfo_endpoint", address),
        end_session_endpoint=_optional(document, "end_session_endpoint", address),
    )


def _algorithms(document: Mapping[str, object]) -> tuple[str, ...]:
    name = "id_token_signing_alg_values_supported"
    known = tuple(word for word in _words(document, name, ("RS256",)) if word in ALGORITHMS)
    if not known:
        raise InvalidField(name, f"has none of {', '.join(ALGORITHMS)}")
    return known


def _token_authentication(document: Mapping[str, object]) -> str:
    name = "token_endpoint_auth_methods_supported"
    offered = _words(document, name, _TOKEN_AUTHENTICATION[:1])
    way = next((way for way in _TOKEN_AUTHENTICATION if way in offered), None)
    if way is None:
        raise InvalidField(name, f"has neither {' nor '.join(_TOKEN_AUTHENTICATION)}")
    return way


def _words(document: Mapping[str, object], name: str, default: Sequence[str]) -> Sequence[str]:
    value = document.get(name, default)
    if not isinstance(value, list | tuple):
        raise InvalidField(name, "is not a list")
    return [word for word in value if isinstance(word, str)]


def _optional(document: Mapping[str, object], name: str, address: ReceiverUrl) -> str | None:
    return address.parse(name, document[name]) if document.get(name) else None

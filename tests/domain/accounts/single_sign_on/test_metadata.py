"""What is read out of discovery documents, and out of claims."""

from __future__ import annotations

from typing import Any

import pytest

from backend.domain.accounts.single_sign_on.metadata import parse_metadata
from backend.domain.accounts.single_sign_on.provided_person import provided_person
from backend.domain.accounts.single_sign_on.provider import IssuerUrl
from backend.domain.accounts.single_sign_on.refusals import SignInRefused
from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.receiver_url import ReceiverUrl

ISSUER = "https://id.example"
ALGORITHMS = "id_token_signing_alg_values_supported"
NO_ISSUERS = ("http://id.example", "http://localhost:9", "https://192.168.0.1", f"{ISSUER}?x", f"{ISSUER}#x")
DOCUMENT: dict[str, Any] = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/auth",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
    ALGORITHMS: ["HS256", "none", "RS256", "ES256"],
    "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post"],
}


def test_what_the_service_needs_is_read() -> None:
    """Signatures by anything but a key of the provider's are left out, and what is not there has defaults."""
    metadata = parse_metadata(DOCUMENT, ISSUER, ReceiverUrl())
    assert metadata.algorithms == ("RS256", "ES256")
    assert metadata.token_authentication == "client_secret_post"
    assert (metadata.userinfo_endpoint, metadata.scopes) == (None, ())
    bare = {name: value for name, value in DOCUMENT.items() if "supported" not in name}
    assert parse_metadata(bare, ISSUER, ReceiverUrl()).token_authentication == "client_secret_basic"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"issuer": "https://evil.example"}, "issuer"),
        ({"token_endpoint": "http://id.example/token"}, "token_endpoint"),
        ({"jwks_uri": "https://127.0.0.1/keys"}, "jwks_uri"),
        ({"authorization_endpoint": None}, "authorization_endpoint"),
        ({"userinfo_endpoint": "https://10.0.0.1/me"}, "userinfo_endpoint"),
        (
            {ALGORITHMS: ["HS256", "none"]},
            ALGORITHMS,
        ),
        ({"token_endpoint_auth_methods_supported": "basic"}, "token_endpoint_auth_methods_supported"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, object], field: str) -> None:
    """Also one that would have the service ask inside of its own network."""
    with pytest.raises(InvalidField) as told:
        parse_metadata(DOCUMENT | changes, ISSUER, ReceiverUrl())
    assert told.value.field == field


def test_an_issuer_is_an_https_address() -> None:
    """Of this machine only where the service is there itself."""
    assert IssuerUrl().parse("issuer", f"{ISSUER}/.well-known/openid-configuration") == ISSUER
    assert IssuerUrl(allows_loopback=True).parse("issuer", "http://localhost:9/x") == "http://localhost:9/x"
    for wrong in NO_ISSUERS:
        with pytest.raises(InvalidField):
            IssuerUrl().parse("issuer", wrong)


def test_claims_are_read_as_providers_write_them() -> None:
    """A group as a text, a verified address as a text, and nothing that is something else."""
    claims = {"sub": "1", "email": " Ada@Shop.example", "email_verified": "true", "roles": "IT"}
    person = provided_person(ISSUER, claims, "roles")
    assert (person.email, person.is_email_verified, person.groups) == ("ada@shop.example", True, ("IT",))
    odd = provided_person(ISSUER, {"sub": "1", "email": ["x"], "groups": [1, "IT", {}]}, "groups")
    assert (odd.email, odd.is_email_verified, odd.groups) == ("", None, ("IT",))
    for subject in (None, "", 7, "x" * 256, "\ud800"):
        with pytest.raises(SignInRefused):
            provided_person(ISSUER, {"sub": subject}, "groups")

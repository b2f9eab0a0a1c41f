"""Asks identity providers who somebody is."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus, urlencode

from cachetools import TTLCache
from joserfc.jwk import KeySet

from backend.domain.accounts.single_sign_on.attempt import SignInAttempt
from backend.domain.accounts.single_sign_on.metadata import ProviderMetadata, parse_metadata
from backend.domain.accounts.single_sign_on.provided_person import ProvidedPerson, provided_person
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.domain.errors import InvalidField
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.identity_providers.id_token import Expectation, UnknownSigningKey, key_set, verify
from backend.version import VERSION
from backend.web_client.guarded_client import GuardedAnswer, GuardedClient
from backend.web_client.guarded_network import GuardedNetwork
from backend.web_client.page_reader import Unreadable

_HEADERS = {"User-Agent": f"Waylink/{VERSION} (single sign-on)", "Accept": "application/json"}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_UNAUTHORIZED = 401


async def get_json(client: GuardedClient, what: str, url: str, token: str = "") -> Any:
    """The JSON at an address of the provider, asked for with this access token. `what` is its name."""
    headers = _HEADERS | ({"Authorization": f"Bearer {token}"} if token else {})
    with _unreachable(what, url):
        answer = await client.send("GET", url, headers)
    if answer.status != 200:
        raise SignInRefused(Refusal.UNREACHABLE, f"{what} at {url} answers with status {answer.status}")
    return _parsed(what, answer)


async def exchange_code(
    client: GuardedClient,
    provider: IdentityProvider,
    metadata: ProviderMetadata,
    fields: Mapping[str, str],
) -> Mapping[str, Any]:
    """What the token endpoint gives for a code. `fields` are the code, its verifier and the redirect URI."""
    fields = {"grant_type": "authorization_code", **fields}
    headers = _HEADERS | _FORM
    if metadata.token_authentication == "client_secret_post":  # noqa: S105 - the name of a way
        fields |= {"client_id": provider.client_id, "client_secret": provider.client_secret}
    else:
        headers |= {"Authorization": _basic(provider)}
    what, url = "the token endpoint", metadata.token_endpoint
    with _unreachable(what, url):
        answer = await client.send("POST", url, headers, urlencode(fields).encode())
    told = _parsed(what, answer) if answer.status < 500 else None
    if answer.status == 200 and isinstance(told, dict):
        return told
    raise _refused(answer, told)


def _refused(answer: GuardedAnswer, told: object) -> SignInRefused:
    if not isinstance(told, dict):
        detail = f"the token endpoint answers with status {answer.status}"
        return SignInRefused(Refusal.UNREACHABLE, detail)
    error = str(told.get("error", ""))
    is_client = error in {"invalid_client", "unauthorized_client"} or answer.status == _UNAUTHORIZED
    refusal = Refusal.CLIENT_REFUSED if is_client else Refusal.PROVIDER_ERROR
    return SignInRefused(refusal, f"{error}: {told.get('error_description', '')}")


def _basic(provider: IdentityProvider) -> str:
    """Client id and secret are form-encoded before they are put together (RFC 6749, section 2.3.1)."""
    pair = f"{quote_plus(provider.client_id)}:{quote_plus(provider.client_secret)}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


@contextmanager
def _unreachable(what: str, url: str) -> Iterator[None]:
    try:
        yield
    except Unreadable as error:
        raise SignInRefused(Refusal.UNREACHABLE, f"{what} at {url} {error}") from None


def _parsed(what: str, answer: GuardedAnswer) -> Any:
    try:
        return json.loads(answer.text)
    except (ValueError, RecursionError):
        raise SignInRefused(Refusal.UNREACHABLE, f"{what} answers no JSON") from None


_SECONDS = 10.0
# Key sets with certificates in them have some ten kilobytes.
_MOST_BYTES = 256 * 1024
# Of what providers say about themselves, and of their keys.
_KEPT_BYTES = 16_000_000
_ENTRY_BYTES = 1_000  # beside the texts
# After so many seconds a provider is asked again what it says about itself. New keys are asked for at once.
_METADATA_SECONDS = 600.0
_KEYS_SECONDS = 3_600.0


class IdentityProviders:
    """Connections to providers at public addresses; with `allows_private` also inside the operator's network,
    with `allows_loopback` also on this machine."""

    def __init__(self, *, allows_private: bool, allows_loopback: bool) -> None:
        network = GuardedNetwork(allows_private=allows_private, allows_loopback=allows_loopback)
        self._client = GuardedClient(network, seconds=_SECONDS, most_bytes=_MOST_BYTES)
        self._address = ReceiverUrl(allows_loopback)
        self._metadata = TTLCache[str, ProviderMetadata](_KEPT_BYTES, _METADATA_SECONDS, getsizeof=_bytes_of)
        self._keys = TTLCache[str, KeySet](_KEPT_BYTES, _KEYS_SECONDS, getsizeof=_bytes_of_keys)

    async def read_metadata(self, provider: IdentityProvider) -> ProviderMetadata:
        """What the provider says about itself now. Raises SignInRefused, or InvalidField for what it says."""
        document = await get_json(self._client, "the discovery document", provider.discovery_url)
        metadata = parse_metadata(document, provider.issuer, self._address)
        self._metadata[provider.issuer] = metadata
        return metadata

    async def metadata_of(self, provider: IdentityProvider) -> ProviderMetadata:
        """What the provider said about itself not long ago. Raises SignInRefused."""
        try:
            return self._metadata.get(provider.issuer) or await self.read_metadata(provider)
        except InvalidField as error:
            raise SignInRefused(Refusal.UNREACHABLE, f"the discovery document: {error}") from None

    async def read_keys(self, metadata: ProviderMetadata) -> KeySet:
        """The keys by which the provider signs now. Raises SignInRefused."""
        document = await get_json(self._client, "the key set", metadata.jwks_uri)
        try:
            keys = key_set(document)
        except ValueError as error:
            raise SignInRefused(Refusal.UNREACHABLE, f"the key set {error}") from None
        self._keys[metadata.jwks_uri] = keys
        return keys

    async def find_person(
        self, provider: IdentityProvider, attempt: SignInAttempt, code: str, back_to: str, now: datetime
    ) -> ProvidedPerson:
        """Who signed in at the provider, which sent the browser back with this code. Raises SignInRefused."""
        metadata = await self.metadata_of(provider)
        fields = {"code": code, "code_verifier": attempt.code_verifier, "redirect_uri": back_to}
        tokens = await exchange_code(self._client, provider, metadata, fields)
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise SignInRefused(Refusal.INVALID_TOKEN, "the token endpoint gives no ID token")
        expected = Expectation(provider.issuer, provider.client_id, attempt.nonce, metadata.algorithms)
        claims = await self._verified(id_token, metadata, expected, now)
        claims = await self._with_user_info(claims, provider, metadata, tokens)
        return provided_person(provider.issuer, claims, provider.groups_claim)

    async def close(self) -> None:
        """End all connections."""
        await self._client.close()

    async def _verified(
        self, id_token: str, metadata: ProviderMetadata, expected: Expectation, now: datetime
    ) -> Mapping[str, Any]:
        kept = self._keys.get(metadata.jwks_uri)
        if kept is not None:
            try:
                return verify(id_token, kept, expected, now)
            except UnknownSigningKey:
                pass  # the provider has a new key
        try:
            return verify(id_token, await self.read_keys(metadata), expected, now)
        except UnknownSigningKey:
            raise SignInRefused(Refusal.INVALID_TOKEN, "no key of the provider signed the ID token") from None

    async def _with_user_info(
        self,
        claims: Mapping[str, Any],
        provider: IdentityProvider,
        metadata: ProviderMetadata,
        tokens: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """The claims; with those of the userinfo endpoint, where address or groups are told there only."""
        wanted, access_token = {"email", provider.groups_claim}, tokens.get("access_token")
        if wanted <= claims.keys() or not metadata.userinfo_endpoint or not isinstance(access_token, str):
            return claims
        told = await get_json(self._client, "the userinfo endpoint", metadata.userinfo_endpoint, access_token)
        if not isinstance(told, dict) or told.get("sub") != claims["sub"]:
            raise SignInRefused(Refusal.INVALID_TOKEN, "the userinfo endpoint tells of another person")
        if told.get("email") != claims.get("email", told.get("email")):
            told.pop("email_verified", None)  # which is about the other address
        return {**told, **claims}


def _bytes_of(metadata: ProviderMetadata) -> int:
    return _ENTRY_BYTES + len(repr(metadata))


def _bytes_of_keys(keys: KeySet) -> int:
    return sum(_ENTRY_BYTES + len(repr(key.as_dict())) for key in keys)

"""Requests to providers, and what they answer. Whatever goes wrong is a SignInRefused that says what."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote_plus, urlencode

from backend.domain.accounts.single_sign_on.metadata import ProviderMetadata
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.single_sign_on.refusals import Refusal, SignInRefused
from backend.version import VERSION
from backend.web_client.guarded_client import GuardedAnswer, GuardedClient
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

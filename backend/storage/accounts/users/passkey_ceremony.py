"""The ceremonies of WebAuthn by which a browser makes a passkey, and signs with one. Nothing is stored."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from backend.domain.accounts.second_factor.passkeys import NONCE_BYTES, Passkey, challenge_of, is_challenge
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.domain.web.base64url import base64url

_SERVICE = "Waylink"
# What reading a text raises that is no credential.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class PasskeyRefused(Exception):
    """What a browser sent is no passkey that this service knows, or no answer to its challenge."""


@dataclass(frozen=True, slots=True)
class Ceremony:
    """One browser, with the token of its cookie, at the dashboard's address, now."""

    base_url: str
    token: str
    now: datetime

    def creation_options(self, user: User) -> str:
        """What the browser is asked to make for the user, as JSON."""
        passkeys = user.second_factor.passkeys if user.second_factor else ()
        options = generate_registration_options(
            rp_id=self._host,
            rp_name=_SERVICE,
            user_name=user.email,
            user_id=user.id.encode(),
            challenge=self._challenge(),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[
                PublicKeyCredentialDescriptor(id=base64url_to_bytes(passkey.id)) for passkey in passkeys
            ],
        )
        return options_to_json(options)

    def request_options(self) -> str:
        """What the browser is asked to sign, by whichever passkey of this service it has, as JSON."""
        options = generate_authentication_options(
            rp_id=self._host,
            challenge=self._challenge(),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return options_to_json(options)

    def created(self, credential: str, name: str) -> Passkey:
        """The passkey that a browser has made. Raises PasskeyRefused."""
        try:
            made = verify_registration_response(
                credential=credential,
                expected_challenge=self._answered(credential),
                expected_rp_id=self._host,
                expected_origin=self._origin,
                require_user_verification=True,
            )
        except (WebAuthnException, *_MALFORMED) as error:
            raise PasskeyRefused(str(error)) from None
        passkey_id = base64url(made.credential_id)
        return Passkey(passkey_id, made.credential_public_key, made.sign_count, name, self.now)

    def used(self, credential: str, passkey: Passkey) -> Passkey:
        """The passkey after it signed the challenge with this credential. Raises PasskeyRefused."""
        try:
            signed = verify_authentication_response(
                credential=credential,
                expected_challenge=self._answered(credential),
                expected_rp_id=self._host,
                expected_origin=self._origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, *_MALFORMED) as error:
            raise PasskeyRefused(str(error)) from None
        return replace(passkey, sign_count=signed.new_sign_count, last_used_at=self.now)

    def _challenge(self) -> bytes:
        return challenge_of(self.token, secrets.token_bytes(NONCE_BYTES), self.now)

    def _answered(self, credential: str) -> bytes:
        """The challenge that the browser says it answers, if it is one of ours."""
        client_data = json.loads(base64url_to_bytes(json.loads(credential)["response"]["clientDataJSON"]))
        challenge = base64url_to_bytes(client_data["challenge"])
        if not is_challenge(challenge, self.token, self.now):
            raise PasskeyRefused("its challenge is too old, or another browser's")
        return challenge

    @property
    def _host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def _origin(self) -> str:
        address = urlsplit(self.base_url)
        return f"{address.scheme}://{address.netloc}"


def claimed_by(credential: str) -> tuple[UserId, str]:
    """Whose passkey the credential says that it is of, and its id. Raises PasskeyRefused."""
    try:
        sent = json.loads(credential)
        return UserId(base64url_to_bytes(sent["response"]["userHandle"]).decode()), sent["id"]
    except _MALFORMED:
        raise PasskeyRefused("it can't be read") from None

"""Passkeys, in the second factors of users, and the ceremonies by which they are added and shown."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, replace
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

from backend.domain.accounts.passkeys import (
    MOST_PASSKEYS,
    NONCE_BYTES,
    Passkey,
    base64url,
    challenge_of,
    is_challenge,
)
from backend.domain.accounts.users import User
from backend.domain.ids import UserId
from backend.storage.accounts.users.users import NAME, find_user
from backend.storage.driver.mongo import Database

_FIELD = "second_factor.passkeys"
_SERVICE = "Waylink"


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

    async def signed_in(self, database: Database, credential: str) -> User:
        """The user whose passkey signed the challenge, which is noted. Raises PasskeyRefused."""
        user, passkey = await _owner(database, credential)
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
        used = replace(passkey, sign_count=signed.new_sign_count, last_used_at=self.now)
        if not await _note_use(database, user.id, passkey, used):
            raise PasskeyRefused("it was removed, or used elsewhere at this moment")
        return user

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


# What reading a text raises that is no credential.
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


async def add_passkey(database: Database, user_id: UserId, passkey: Passkey) -> bool:
    """Add it to a user who has a second factor. False if the user has none, or as many passkeys as may be."""
    with_room = {
        "_id": user_id,
        "second_factor.secret": {"$exists": True},
        f"{_FIELD}.{MOST_PASSKEYS - 1}": {"$exists": False},
    }
    added = await database[NAME].update_one(with_room, {"$push": {_FIELD: asdict(passkey)}})
    return bool(added.matched_count)


async def remove_passkey(database: Database, user_id: UserId, passkey_id: str) -> None:
    """Let it sign in no more. Does nothing if the user has no such passkey."""
    await database[NAME].update_one({"_id": user_id}, {"$pull": {_FIELD: {"id": passkey_id}}})


async def _owner(database: Database, credential: str) -> tuple[User, Passkey]:
    try:
        sent = json.loads(credential)
        user_id = base64url_to_bytes(sent["response"]["userHandle"]).decode()
        passkey_id = sent["id"]
    except _MALFORMED:
        raise PasskeyRefused("it can't be read") from None
    user = await find_user(database, UserId(user_id))
    passkeys = user.second_factor.passkeys if user and user.second_factor else ()
    passkey = next((passkey for passkey in passkeys if passkey.id == passkey_id), None)
    if user is None or passkey is None or not user.org_ids:
        raise PasskeyRefused("nobody has such a passkey here")
    return user, passkey


async def _note_use(database: Database, user_id: UserId, before: Passkey, used: Passkey) -> bool:
    as_it_was = {"$elemMatch": {"id": before.id, "sign_count": before.sign_count}}
    noted = await database[NAME].update_one(
        {"_id": user_id, _FIELD: as_it_was},
        {"$set": {f"{_FIELD}.$.sign_count": used.sign_count, f"{_FIELD}.$.last_used_at": used.last_used_at}},
    )
    return bool(noted.matched_count)

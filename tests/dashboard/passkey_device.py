"""A device with passkeys, as a browser talks to it: it makes one, and signs with it."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn import base64url_to_bytes

from backend.domain.web.base64url import base64url

_ORIGIN, _HOST = "http://localhost:8080", "localhost"
_PRESENT_AND_VERIFIED, _WITH_KEY = 0x05, 0x40


@dataclass(slots=True)
class PasskeyDevice:
    """It has one passkey, and knows whose it is once it made it."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user_handle: str = ""

    def make(self, options: str) -> str:
        """The credential that answers the options of a page that adds one, as JSON."""
        asked = json.loads(options)
        self.user_handle = asked["user"]["id"]
        attestation = {"fmt": "none", "attStmt": {}, "authData": self._data(_WITH_KEY) + self._public_key()}
        answer = {"attestationObject": base64url(cbor2.dumps(attestation))}
        return self._credential(answer | {"clientDataJSON": self._client_data("create", asked)})

    def sign(self, options: str) -> str:
        """The credential that answers the options of a page to sign in, as JSON."""
        client_data = self._client_data("get", json.loads(options))
        signed = self._data() + hashlib.sha256(base64url_to_bytes(client_data)).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        answer = {"authenticatorData": base64url(self._data()), "signature": base64url(signature)}
        return self._credential(answer | {"clientDataJSON": client_data, "userHandle": self.user_handle})

    def _credential(self, answer: dict[str, str]) -> str:
        named = base64url(self.credential_id)
        return json.dumps({"id": named, "rawId": named, "type": "public-key", "response": answer})

    def _client_data(self, kind: str, asked: dict[str, str]) -> str:
        told = {"type": f"webauthn.{kind}", "challenge": asked["challenge"], "origin": _ORIGIN}
        return base64url(json.dumps(told | {"crossOrigin": False}).encode())

    def _data(self, flags: int = 0) -> bytes:
        host = hashlib.sha256(_HOST.encode()).digest()
        return host + bytes([_PRESENT_AND_VERIFIED | flags]) + bytes(4)  # it does not count

    def _public_key(self) -> bytes:
        """The part of what is attested that has the new key."""
        numbers = self.key.public_key().public_numbers()
        key = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        length = len(self.credential_id).to_bytes(2)
        return bytes(16) + length + self.credential_id + cbor2.dumps(key)

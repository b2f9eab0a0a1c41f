"""Signatures by Ed25519 (RFC 8032). Keys and signatures are in hexadecimal digits."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def public_key(secret: bytes) -> str:
    """The public key of these 32 secret bytes."""
    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw().hex()


def sign(secret: bytes, text: bytes) -> str:
    """The signature of the text with these 32 secret bytes."""
    return Ed25519PrivateKey.from_private_bytes(secret).sign(text).hex()


def is_signed(key: str, text: bytes, signature: str) -> bool:
    """Whether the owner of this public key has signed the text so."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), text)
    except (InvalidSignature, ValueError):
        return False
    return True

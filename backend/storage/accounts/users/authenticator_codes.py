"""Codes of authenticator apps (TOTP, RFC 6238): six digits that follow from a secret and the half minute."""

from __future__ import annotations

import hmac
from datetime import datetime

from pyotp import TOTP, random_base32

from backend.domain.accounts.second_factor.factor import SECRET_LENGTH, typed_code

ISSUER = "Waylink"
_STEP_SECONDS = 30
# A code holds one step longer and earlier: clocks of phones differ, and typing takes time.
_STEPS = (-1, 0, 1)


def new_secret() -> str:
    """A secret for an authenticator app."""
    return random_base32(SECRET_LENGTH)


def provisioning_uri(secret: str, email: str) -> str:
    """The address that authenticator apps read from a QR code."""
    return TOTP(secret).provisioning_uri(name=email, issuer_name=ISSUER)


def matching_step(secret: str, code: str, now: datetime, after: int = 0) -> int | None:
    """The time step that this code of an app belongs to; None if it holds at none after `after`."""
    typed = typed_code(code)
    current = int(now.timestamp()) // _STEP_SECONDS
    codes = {current + step: TOTP(secret).generate_otp(current + step) for step in _STEPS}
    # All are compared, so that the time that it takes tells nothing.
    steps = [step for step, right in codes.items() if hmac.compare_digest(right.encode(), typed)]
    return next((step for step in steps if step > after), None)

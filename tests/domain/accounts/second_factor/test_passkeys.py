"""Challenges that browsers answer with passkeys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend.domain.accounts.second_factor.passkeys import (
    CHALLENGE_DURATION,
    NONCE_BYTES,
    challenge_of,
    is_challenge,
)

NONCE = b"n" * NONCE_BYTES
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def test_a_challenge_is_of_one_browser_and_time() -> None:
    """It holds for ten minutes, and for nobody who has another token."""
    challenge = challenge_of("token", NONCE, NOW)
    assert is_challenge(challenge, "token", NOW)
    assert is_challenge(challenge, "token", NOW + CHALLENGE_DURATION)
    assert not is_challenge(challenge, "token", NOW + CHALLENGE_DURATION + timedelta(seconds=1))
    assert not is_challenge(challenge, "token", NOW - timedelta(seconds=2))
    assert not is_challenge(challenge, "tokem", NOW)
    assert challenge_of("token", b"o" * NONCE_BYTES, NOW) != challenge


def test_no_other_bytes_are_a_challenge() -> None:
    """Neither shorter ones nor ones of which a bit was changed, also in the time."""
    challenge = challenge_of("token", NONCE, NOW)
    changed = [
        challenge[:place] + bytes([byte ^ 1]) + challenge[place + 1 :] for place, byte in enumerate(challenge)
    ]
    for other in (b"", b"x", challenge[:-1], challenge + b"\0", *changed):
        assert not is_challenge(other, "token", NOW)

"""Secrets and recovery codes of second factors."""

from __future__ import annotations

import pytest

from backend.domain.accounts.second_factor.factor import is_secret, recovery_hash, shown_recovery_code

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def test_recovery_codes_are_read_as_they_are_written() -> None:
    """With or without hyphens, spaces and capitals, it is one code."""
    shown = shown_recovery_code("ABCDEFGHIJKLMNOP")
    assert shown == "ABCD-EFGH-IJKL-MNOP"
    assert recovery_hash(shown) == recovery_hash(" abcd efgh ijklmnop ") == recovery_hash("ABCDEFGHIJKLMNOP")
    assert recovery_hash(shown) != recovery_hash("ABCD-EFGH-IJKL-MNOQ")


@pytest.mark.parametrize("text", ["", SECRET[:-1], SECRET.lower(), SECRET + "A", SECRET[:-1] + "1"])
def test_what_is_no_secret(text: str) -> None:
    """Only 32 characters of Base32 are one."""
    assert is_secret(SECRET)
    assert not is_secret(text)

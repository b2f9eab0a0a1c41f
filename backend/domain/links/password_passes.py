"""Passes: after the right password, a browser keeps a signed time, until which it is not asked again."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta

PASS_DURATION = timedelta(hours=12)
_LONGEST = 100


def make_pass(protected_id: str, password_hash: str, now: datetime) -> str:
    """A pass for the link or report with this id, as text of digits, a dot and hexadecimal digits.

    It is signed with the hash of the password, which nobody outside knows: another password ends all passes.
    """
    until = str(int((now + PASS_DURATION).timestamp()))
    return f"{until}.{_signature(protected_id, password_hash, until)}"


def is_pass(text: str, protected_id: str, password_hash: str, now: datetime) -> bool:
    """Whether this is a pass for the link or report with this id, and still one."""
    until, _, signature = text[:_LONGEST].partition(".")
    expected = _signature(protected_id, password_hash, until)
    if not hmac.compare_digest(signature.encode(), expected.encode()):
        return False
    return now.timestamp() < int(until)  # signed by us, so it is a number


def _signature(protected_id: str, password_hash: str, until: str) -> str:
    message = f"link pass\n{protected_id}\n{until}"
    return hmac.new(password_hash.encode(), message.encode("utf-8", "replace"), "sha256").hexdigest()

"""Passes: after the right password, a browser keeps a signed time, until which it is not asked again."""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta

from backend.domain.ids import LinkId

PASS_DURATION = timedelta(hours=12)
_LONGEST = 100


def make_pass(link_id: LinkId, password_hash: str, now: datetime) -> str:
    """A pass for the link, as text of digits, a dot and hexadecimal digits.

    It is signed with the hash of the password, which nobody outside knows: another password ends all passes.
    """
    until = str(int((now + PASS_DURATION).timestamp()))
    return f"{until}.{_signature(link_id, password_hash, until)}"


def is_pass(text: str, link_id: LinkId, password_hash: str, now: datetime) -> bool:
    """Whether this is a pass for the link, and still one."""
    until, _, signature = text[:_LONGEST].partition(".")
    expected = _signature(link_id, password_hash, until)
    if not hmac.compare_digest(signature.encode(), expected.encode()):
        return False
    return now.timestamp() < int(until)  # signed by us, so it is a number


def _signature(link_id: LinkId, password_hash: str, until: str) -> str:
    message = f"link pass\n{link_id}\n{until}"
    return hmac.new(password_hash.encode(), message.encode("utf-8", "replace"), "sha256").hexdigest()

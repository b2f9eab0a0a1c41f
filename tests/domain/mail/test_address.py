"""Addresses of mails."""

from __future__ import annotations

import pytest

from backend.domain.errors import InvalidField
from backend.domain.mail.address import MailAddress


@pytest.mark.parametrize(
    ("given", "stored"),
    [("Ada@Shop.Example ", "ada@shop.example"), ("a+b@grüße.example", "a+b@xn--gre-6ka8l.example")],
)
def test_normal_form(given: str, stored: str) -> None:
    """In lower case, with a domain that every mail server takes."""
    assert MailAddress().parse("address", given) == stored


@pytest.mark.parametrize(
    "given", ["ada", "ada@", "@shop.example", "a b@x.example", "a@x.example\r\nRCPT TO:<b@x.example>", 7,
              "größe@x.example", f"{'a' * 65}@x.example", "a@b@c.example", "<a@x.example>"],
)  # fmt: skip
def test_what_is_refused(given: object) -> None:
    """What is no address, more than one, or one that most servers can't send to."""
    with pytest.raises(InvalidField):
        MailAddress().parse("address", given)

"""The one rule for e-mail addresses."""

from __future__ import annotations

from email.headerregistry import Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress, InvalidEmail, normalize_email


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Ada@Shop.Example ", "ada@shop.example"),
        ("a+b@grüße.example", "a+b@xn--gre-6ka8l.example"),
        ("ada@MÜLLER.example", "ada@xn--mller-kva.example"),
        ("ada@xn--MLLER-kva.example", "ada@xn--mller-kva.example"),
        ("ada@mu\u0308ller.example", "ada@xn--mller-kva.example"),
        ("ada@shop。example", "ada@shop.example"),
        ("ada@shop.example.", "ada@shop.example"),
        ("o'hara_{x}/1=2@x.example", "o'hara_{x}/1=2@x.example"),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    """All spellings of an address are one: in lower case, with a domain that every mail server takes."""
    assert EmailAddress().parse("address", text) == normal


@pytest.mark.parametrize(
    "text",
    [
        7, None, "", "@", "ada", "ada@", "@shop.example", "a b@x.example", "a@b@c.example", "<a@x.example>",
        "a@x.example\r\nRCPT TO:<b@x.example>", '"a b"@x.example', "a..b@x.example", ".a@x.example",
        "a.@x.example", "=?utf-8?q?x?=@x.example", "a@x", "a@localhost", "a@192.0.2.1", "a@[192.0.2.1]",
        "a@x.example:25", "a@ x.example", "a@x..example", "a@-x.example", "a@x_y.example", "a@x.1",
    ],
)  # fmt: skip
def test_what_is_no_address(text: object) -> None:
    """What is none, more than one, has no domain, or has a mailbox that not every server can be told."""
    with pytest.raises(InvalidField):
        EmailAddress().parse("address", text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        *[(f"a@x.test{unseen}", "nobody sees") for unseen in "\x00\x1f\x7f\x85\xa0\u202e\u200b\ufeff\ud800"],
        *[(f"a{unseen}@x.test", "nobody sees") for unseen in "\x00\u200d\u2066\xad"],
        *[(f"a@x{unseen}.test", "nobody sees") for unseen in "\u200b\ufe0f\u034f\u115f\u3164"],
        ("müller@x.example", "ASCII characters before the @"),
        ("\N{KELVIN SIGN}ate@x.example", "ASCII characters before the @"),
        (f"{'a' * 65}@x.example", "at most 64 characters before the @"),
        (f"{'a' * 64}@{'x.' * 94}example", "at most 254 characters"),
    ],
)
def test_what_is_refused_says_why(text: str, rule: str) -> None:
    """Characters that nobody sees, mailboxes that not every mail server takes, and what is too long."""
    with pytest.raises(InvalidEmail, match=rule):
        normalize_email(text)


@given(
    st.text(st.sampled_from("aZ1.-+=?_'@ü\x00\u200b\u212a:[]\" \\"), max_size=8),
    st.text(st.sampled_from("aZ1.-ü。\u200b\ufe0f:_"), max_size=12),
)
def test_what_is_taken_can_be_sent_to(mailbox: str, domain: str) -> None:
    """It is ASCII, its normal form is its own, and it can stand in a header as it is."""
    try:
        normal = normalize_email(f"{mailbox}@{domain}")
    except InvalidEmail:
        return
    assert normal.isascii()
    assert normal.isprintable()
    assert normalize_email(normal) == normal
    assert Address(addr_spec=normal).addr_spec == normal

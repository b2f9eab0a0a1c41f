"""E-mail addresses, in the one normal form in which they are stored, compared and sent to."""

from __future__ import annotations

import hashlib
import re

import idna

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string
from backend.domain.web.host_names import InvalidHostName, normalize_host

# In characters: of an address, and of what stands before its @ (RFC 5321, section 4.5.3.1).
LONGEST_EMAIL = 254
_LONGEST_MAILBOX = 64
# Dot-atoms (RFC 5322, section 3.2.3). Quoted mailboxes are left out, as most servers have none.
_MAILBOX = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
# A name below a top-level domain, none of which begins with a digit: an IP address is no domain.
_DOMAIN = re.compile(r"[a-z0-9.-]+\.[a-z][a-z0-9-]*")
# How words that are not ASCII begin in headers (RFC 2047): mail programs would show something else.
_ENCODED_WORD = "=?"
_UNSEEN = "must not contain control characters, or others that nobody sees"
_NO_EMAIL = "must be an e-mail address such as ada@example.com"


class InvalidEmail(ValueError):
    """The text is not an e-mail address. The message completes a sentence."""


def normalize_email(text: str) -> str:
    """The e-mail address in its normal form: trimmed, in lower case, its domain in punycode.

    Only sending mail can show that an address works; this takes what can be sent to through every mail
    server. Raises InvalidEmail.
    """
    email = text.strip(" \t\r\n")
    if not email.isprintable():  # also lone surrogates, and other than plain spaces
        raise InvalidEmail(_UNSEEN)
    mailbox, _, domain = email.rpartition("@")
    if not mailbox.isascii():
        raise InvalidEmail("must have only ASCII characters before the @")
    if len(mailbox) > _LONGEST_MAILBOX:
        raise InvalidEmail(f"must have at most {_LONGEST_MAILBOX} characters before the @")
    mailbox = mailbox.lower()
    if not _MAILBOX.fullmatch(mailbox) or _ENCODED_WORD in mailbox:
        raise InvalidEmail(_NO_EMAIL)
    normal = f"{mailbox}@{_normal_domain(domain)}"
    if len(normal) > LONGEST_EMAIL:
        raise InvalidEmail(f"must have at most {LONGEST_EMAIL} characters")
    return normal


def address_hash(email: str) -> str:
    """The SHA-256 by which requests for access and erasure name an address."""
    return hashlib.sha256(email.encode()).hexdigest()


class EmailAddress:
    """The rule for an e-mail address. It is stored in its normal form (`normalize_email`)."""

    def parse(self, field: str, value: object) -> str:
        """The address in its normal form. Raises InvalidField."""
        try:
            return normalize_email(parse_string(field, value))
        except InvalidEmail as error:
            raise InvalidField(field, str(error)) from None

    def schema(self) -> Schema:
        """JSON Schema of an e-mail address."""
        return {"type": "string", "format": "email", "maxLength": LONGEST_EMAIL}


def _normal_domain(domain: str) -> str:
    try:
        normal = normalize_host(domain)
    except InvalidHostName:
        raise InvalidEmail(_NO_EMAIL) from None
    # `normalize_host` takes a port and spaces around, which no address has.
    if ":" in domain or " " in domain or not _DOMAIN.fullmatch(normal):
        raise InvalidEmail(_NO_EMAIL)
    if not domain.isascii() and any(map(_is_left_out, domain)):
        raise InvalidEmail(_UNSEEN)
    return normal


def _is_left_out(character: str) -> bool:
    """Whether nobody sees the character and punycode has no place for it, such as a variation selector."""
    try:
        return not idna.uts46_remap(character, std3_rules=False)
    except idna.IDNAError:  # not on its own
        return False

"""E-mail addresses that mails are sent to."""

from __future__ import annotations

import hashlib

from backend.domain.accounts.users import InvalidEmail, normalize_email
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, parse_string
from backend.domain.web.host_names import InvalidHostName, normalize_host

LONGEST_ADDRESS = 254
# What a mail server has to take before the @ (RFC 5321).
_LONGEST_MAILBOX = 64


class MailAddress:
    """The address of a mailbox. Its domain is stored in punycode; before the @, only ASCII can be sent to by
    every mail server."""

    def parse(self, field: str, value: object) -> str:
        """The address in lower case. Raises InvalidField."""
        try:
            mailbox, _, domain = normalize_email(parse_string(field, value)).rpartition("@")
            address = f"{mailbox}@{normalize_host(domain)}"
        except (InvalidEmail, InvalidHostName):
            raise InvalidField(field, "must be an e-mail address such as ada@example.com") from None
        if not mailbox.isascii() or not mailbox.isprintable():
            raise InvalidField(field, "must have only ASCII characters before the @")
        if len(mailbox) > _LONGEST_MAILBOX or len(address) > LONGEST_ADDRESS:
            raise InvalidField(
                field,
                f"must have at most {_LONGEST_MAILBOX} characters before the @, and {LONGEST_ADDRESS} in all",
            )
        return address

    def schema(self) -> Schema:
        """JSON Schema of an e-mail address."""
        return {"type": "string", "format": "email", "maxLength": LONGEST_ADDRESS}


def address_hash(address: str) -> str:
    """The SHA-256 by which requests for access and erasure name an address."""
    return hashlib.sha256(address.encode()).hexdigest()

"""The message of a mail, as it is given to a mail server."""

from __future__ import annotations

from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr

from backend.domain.fields.email_addresses import address_hash
from backend.domain.mail.mail import Mail

# Addresses in List-Unsubscribe must stay in one piece: folded or encoded, mail programs don't find them.
_POLICY = SMTP.clone(max_line_length=990)
# Keeps lines short in transit, whatever the texts have, and works with every server.
_ENCODING = "quoted-printable"


def message_of(mail: Mail, sender: str, now: datetime) -> EmailMessage:
    """The mail with its text and its HTML. `sender` is as `Waylink <links@shop.com>`.

    A mail has the same Message-ID whenever it is made: receivers know by it what they have already.
    """
    name, address = parseaddr(sender)
    message = EmailMessage(_POLICY)
    message["From"] = Address(name, addr_spec=address)
    message["To"] = Address(addr_spec=mail.address)
    message["Subject"] = mail.subject
    message["Date"] = now
    domain = address.rpartition("@")[2]
    message["Message-ID"] = f"<{address_hash(f'{mail.org_id}/{mail.key}')[:40]}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: out-of-office programs don't answer
    if mail.unsubscribe_url:
        message["List-Unsubscribe"] = f"<{mail.unsubscribe_url}>"
        if mail.unsubscribe_url.startswith("https://"):  # as RFC 8058 demands
            message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(mail.text, cte=_ENCODING)
    message.add_alternative(mail.html, subtype="html", cte=_ENCODING)
    return message


def message_bytes(message: EmailMessage) -> bytes:
    """The message with the line ends of SMTP."""
    return message.as_bytes(policy=_POLICY)

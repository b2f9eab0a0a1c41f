"""SHA-256 of e-mail addresses and phone numbers, before they leave the browser (decisions, "hashing")."""

from device_id import to_hex

__pragma__('skip')
RegExp = TextEncoder = Uint8Array = crypto = __new__ = None
__pragma__('noskip')


def normal_email(email):
    """The address as it is hashed: trimmed, in lower case."""
    return email.trim().toLowerCase()


def normal_phone(phone):
    """The number as it is hashed: digits, and the + that it starts with."""
    digits = phone.js_replace(__new__(RegExp('\\D', 'g')), '')
    return '+' + digits if phone.trim().startsWith('+') else digits


async def hash_contacts(fields, say):
    """Replace email and phone by their hashes; without crypto.subtle (plain http) they are dropped."""
    email = fields.email
    phone = fields.phone
    del fields.email
    del fields.phone
    if (email or phone) and not crypto.subtle:
        say('Email, phone not sent: hashing needs https')
        return
    if email:
        fields.email_sha256 = await sha256(normal_email(email))
    if phone:
        fields.phone_sha256 = await sha256(normal_phone(phone))


async def sha256(text):
    """The hash in lower-case hex."""
    digest = await crypto.subtle.digest('SHA-256', __new__(TextEncoder()).encode(text))
    return to_hex(__new__(Uint8Array(digest)))

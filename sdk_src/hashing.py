"""SHA-256 of e-mail addresses and phone numbers, before they leave the browser (decisions, "hashing")."""

from debug import say

__pragma__('skip')
from browser import __pragma__, RegExp, TextEncoder, Uint8Array, __new__, crypto

__pragma__('noskip')


def normal_email(email):
    """The address as it is hashed: trimmed, in lower case."""
    return email.trim().toLowerCase()


def normal_phone(phone):
    """The number as it is hashed: digits, and the + that it starts with."""
    return phone.trim().js_replace(RegExp('(?!^\\+)\\D', 'g'), '')


async def hash_contacts(fields):
    """Replace email and phone by their hashes; without crypto.subtle (plain http) they are dropped."""
    for name in ['email', 'phone']:
        contact = fields[name]
        del fields[name]
        if contact and crypto.subtle:
            fields[name + '_sha256'] = await sha256((normal_email if name == 'email' else normal_phone)(contact))
        elif contact:
            say('contact', name)


async def sha256(text):
    """The hash in lower-case hex."""
    digest = await crypto.subtle.digest('SHA-256', __new__(TextEncoder()).encode(text))
    hex = ''
    for byte in __new__(Uint8Array(digest)):
        hex += (byte + 256).toString(16).substring(1)
    return hex

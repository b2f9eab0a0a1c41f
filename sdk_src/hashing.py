"""SHA-256 of e-mail addresses and phone numbers, before they leave the browser (decisions, "hashing")."""

from debug import say
from ids import to_hexadecimal

__pragma__('skip')
from browser import __pragma__, RegExp, TextEncoder, Uint8Array, __new__, crypto

__pragma__('noskip')

SECOND = 1


async def hash_contacts(fields):
    """Replace email and phone by their hashes; what can't be hashed (plain http, no digit in a number) is dropped."""
    for name in ['email', 'phone']:
        contact = fields[name]
        del fields[name]
        if contact:
            try:
                text = contact.toLowerCase()
                if name == 'phone':
                    text = text.js_replace(RegExp('(?!^\\+)\\D', 'g'), '')
                # A text of less than two characters has no second one: the exception drops it.
                bytes = __new__(TextEncoder()).encode(text[SECOND].length and text)
                digest = await crypto.subtle.digest('SHA-256', bytes)
                fields[name + '_sha256'] = to_hexadecimal(__new__(Uint8Array(digest)))
            except:
                say(name)

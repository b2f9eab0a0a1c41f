"""SHA-256 of e-mail addresses and phone numbers, before they leave the browser (decisions, "hashing")."""

__pragma__('skip')
Object = RegExp = TextEncoder = Uint8Array = crypto = __new__ = None
__pragma__('noskip')


def normal_email(email):
    """The address as it is hashed: trimmed, in lower case."""
    return email.trim().toLowerCase()


def normal_phone(phone):
    """The number as it is hashed: digits, and the + that it starts with."""
    digits = phone.js_replace(__new__(RegExp('[^0-9]', 'g')), '')
    return '+' + digits if phone.trim().startsWith('+') else digits


async def hashed(fields, say):
    """A copy of a call's fields with email and phone replaced by their hashes; they are never sent in the clear."""
    copy = Object.assign({}, fields)
    copy.email = copy.phone = js_undefined
    if fields and fields.email:
        copy.email_sha256 = await sha256(normal_email(fields.email), say)
    if fields and fields.phone:
        copy.phone_sha256 = await sha256(normal_phone(fields.phone), say)
    return copy


async def sha256(text, say):
    """The hash in lower-case hex; undefined where the page has no crypto.subtle (plain http)."""
    if not crypto.subtle:
        say('This page is not on https, so email and phone can not be hashed and are not sent.')
        return js_undefined
    digest = await crypto.subtle.digest('SHA-256', __new__(TextEncoder()).encode(text))
    hex = ''
    for byte in __new__(Uint8Array(digest)):
        hex += (byte + 256).toString(16).substring(1)
    return hex

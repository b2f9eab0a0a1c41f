"""UUIDs: of devices and of calls."""

__pragma__('skip')
from browser import __pragma__, RegExp, Uint8Array, __new__, crypto

__pragma__('noskip')

UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){4}[\\da-f]{8}'


def new_uuid():
    """A random UUID of version 4, also where crypto.randomUUID is missing (pages on plain http)."""
    digits = hexadecimal(crypto.getRandomValues(__new__(Uint8Array(16))))
    return digits.js_replace(RegExp('(.{8})(....).(...).(...)'), '$1-$2-4$3-8$4-')


def hexadecimal(bytes):
    """Two digits for each byte."""
    digits = ''
    for byte in bytes:
        digits += (byte + 256).toString(16).slice(1)
    return digits

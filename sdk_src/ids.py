"""UUIDs: of devices and of calls."""

__pragma__('skip')
from browser import __pragma__, RegExp, Uint8Array, __new__, crypto

__pragma__('noskip')

UUID_PATTERN = '[\\da-f]{8}(?:-[\\da-f]{4}){4}[\\da-f]{8}'
UUID_BYTES = 16
HEXADECIMAL = 16  # the base of the numbers


def new_uuid():
    """A random UUID, also where crypto.randomUUID is missing (pages on plain http)."""
    digits = to_hexadecimal(crypto.getRandomValues(__new__(Uint8Array(UUID_BYTES))))
    # The 4 says that it is of version 4, the 8 that it is of the variant of RFC 9562.
    return digits.js_replace(RegExp('(.{8})(....).(...).(...)'), '$1-$2-4$3-8$4-')


def to_hexadecimal(bytes):
    """Two digits for each byte."""
    digits = ''
    for byte in bytes:
        digits += byte.toString(HEXADECIMAL).padStart(2, '0')
    return digits

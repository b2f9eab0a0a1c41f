"""UUIDs: of devices and of calls."""

__pragma__('skip')
from browser import __pragma__, RegExp, Uint8Array, __new__, crypto

__pragma__('noskip')

UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){4}[\\da-f]{8}'


def new_uuid():
    """A random UUID, also where crypto.randomUUID is missing (pages on plain http).

    In 10000000-1000-4000-8000-100000000000, which a list and negative numbers add up to in JavaScript, a 0 or 1
    becomes any digit, the 8 one from 8 to b; the 4 stays, which is the version.
    """
    random = crypto.getRandomValues(__new__(Uint8Array(36)))
    return ([1e7] + -1e3 + -4e3 + -8e3 + -1e11).js_replace(
        RegExp('[018]', 'g'),
        lambda digit, place: (digit ^ random[place] & 15 >> digit / 4).toString(16),
    )

"""The device ID cookie: one random id for each browser (decisions, "device cookie")."""

from cookie_domain import write_on_widest_domain

__pragma__('skip')
Uint8Array = document = crypto = __new__ = None
__pragma__('noskip')

NAME = 'cl_device_id'
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow
UUID = '[0-9a-f-]{36}'


def to_hex(bytes):
    """Two lower-case digits for each byte."""
    hex = ''
    for byte in bytes:
        hex += (byte + 256).toString(16).substring(1)
    return hex


def new_uuid():
    """A random UUID, also where crypto.randomUUID is missing (pages on plain http)."""
    bytes = crypto.getRandomValues(__new__(Uint8Array(16)))
    bytes[6] = bytes[6] & 15 | 64
    bytes[8] = bytes[8] & 63 | 128
    return to_hex(bytes).js_replace(__new__(RegExp('(.{8})(.{4})(.{4})(.{4})')), '$1-$2-$3-$4-')


def read_device_id():
    """The id in the cookie, or undefined."""
    try:
        return document.cookie.match('(?:^|; )' + NAME + '=(' + UUID + ')(?:;|$)')[1]
    except:
        pass


def write_device_id(device_id, domain):
    """Set the cookie, or renew it, on `domain` or else on the widest domain that the browser accepts."""
    write(device_id, LIFETIME, domain)


def delete_device_id(domain):
    """Remove the cookie, where there is one."""
    if read_device_id():
        write('', 0, domain)


def write(device_id, lifetime, domain):
    try:
        write_on_widest_domain(NAME, device_id, lifetime, domain, read_device_id)
    except:
        pass

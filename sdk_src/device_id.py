"""The device ID cookie: one random id for each browser (decisions, "device cookie")."""

from cookie_domain import write_on_widest_domain

__pragma__('skip')
document = location = RegExp = crypto = __new__ = None
__pragma__('noskip')

NAME = 'cl_device_id'
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow
UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'


def new_uuid():
    """A random UUID, also where crypto.randomUUID is missing (pages on plain http)."""
    bytes = crypto.getRandomValues(__new__(Uint8Array(16)))
    bytes[6] = bytes[6] & 15 | 64
    bytes[8] = bytes[8] & 63 | 128
    hex = ''
    for byte in bytes:
        hex += (byte + 256).toString(16).substring(1)
    return hex.js_replace(__new__(RegExp('(.{8})(.{4})(.{4})(.{4})')), '$1-$2-$3-$4-')


def read_device_id():
    """The id in the cookie, or None."""
    try:
        found = document.cookie.match('(?:^|; )' + NAME + '=(' + UUID + ')(?:;|$)')
        return found and found[1]
    except:
        return None


def write_device_id(device_id, domain):
    """Set the cookie, or renew it, on `domain` or else on the widest domain that the browser accepts."""
    write_on_widest_domain(NAME + '=' + device_id, LIFETIME, domain, lambda: read_device_id() == device_id)


def delete_device_id(domain):
    """Remove the cookie."""
    write_on_widest_domain(NAME + '=', 0, domain, lambda: not read_device_id())

"""The device ID cookie: one random id for each browser (decisions, "device cookie")."""

from cookies import read_cookie, write_cookie
from debug import say
from options import options
from stores import session

__pragma__('skip')
from browser import __pragma__, RegExp, Uint8Array, __new__, crypto

__pragma__('noskip')

NAME = 'cl_device_id'
KEPT = 'cl_device_id_kept'  # holds the id as well where the service set both by header
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow
device = None  # the id, while there is consent


def new_uuid():
    """A random UUID, also where crypto.randomUUID is missing (pages on plain http).

    In 10000000-1000-4000-8000-100000000000, which a list and negative numbers add up to in JavaScript, a 0 or 1
    becomes any digit, the 8 one from 8 to b; the 4 stays, which is the version.
    """
    bytes = crypto.getRandomValues(__new__(Uint8Array(36)))
    return ([1e7] + -1e3 + -4e3 + -8e3 + -1e11).js_replace(
        RegExp('[018]', 'g'), lambda digit, place: (digit ^ bytes[place] & 15 >> digit / 4).toString(16)
    )


def open_device():
    """Read or make the device id, and renew its cookie; whether this device was not seen before."""
    global device
    cookie = read_cookie(NAME)
    known = cookie or session.read(NAME)
    device = known or new_uuid()
    if not write_device_id(cookie):
        session.write(NAME, device)
        say('cookie')
    return not known


def write_device_id(current):
    """Set or renew the cookie, on `cookieDomain` or else the widest domain that the browser accepts; whether it holds.

    `current` is what it holds before. One that the service set by header is left alone: Safari ends a cookie that a
    script touched within days.
    """
    return (current and read_cookie(KEPT) == device) or write_cookie(
        NAME, device, LIFETIME, options.cookieDomain, current
    )


def close_device():
    """Know no device any more, and delete what is left of it."""
    global device
    device = None
    delete_device_id()


def delete_device_id():
    """Remove the cookies, where there are any."""
    for name in [NAME, KEPT]:
        write_cookie(name, '', 0, options.cookieDomain, read_cookie(name))

"""The device ID: one random id for each browser, in a cookie (decisions, "device cookie")."""

from cookies import NAME, keep_cookie, read_cookie
from debug import say
from ids import UUID, new_uuid
from stores import session

STORED = 'waylink_device_id'
device = None  # the id, while there is consent; a new one after each withdrawal


def open_device():
    """Read or make the device id, and renew its cookie; whether this device was not seen before."""
    global device
    cookie = read_cookie(NAME)
    known = cookie or session.read(STORED).match(UUID)
    device = '' + (known or new_uuid())
    if not keep_cookie(device, cookie):
        session.write(STORED, device)
        say('cookie')
    return not known


def close_device():
    """Know no device any more."""
    global device
    device = None

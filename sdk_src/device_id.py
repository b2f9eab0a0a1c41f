"""The device ID: one random id for each browser, in a cookie (decisions, "device cookie")."""

from cookies import NAME, keep_cookie, read_cookie
from debug import say
from ids import UUID, new_uuid
from stores import own, session

device = None  # the id, while there is consent; a new one after each withdrawal


def known_device():
    """The id of this device as the browser has it, or ''."""
    return '' + (read_cookie(NAME) or session.read(own(NAME)).match(UUID) or '')


def open_device():
    """Read or make the device id, and renew its cookie; whether this device was not seen before."""
    global device
    known = known_device()
    device = known or new_uuid()
    if not keep_cookie(device, known):
        session.write(own(NAME), device)
        say('cookie')
    return not known


def close_device():
    """Know no device any more."""
    global device
    device = None

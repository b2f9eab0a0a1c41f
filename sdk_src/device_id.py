"""The device ID: one random id for each browser, in a cookie (decisions, "device cookie")."""

from cookies import DEVICE_ID_NAME, WITHDRAWAL_NAME, DELETED, mark, keep_cookie, read_cookie
from debug import say
from ids import UUID_PATTERN, new_uuid
from stores import KEY_PREFIX, session, storage_key

VISIT_KEY = KEY_PREFIX + DEVICE_ID_NAME  # under which this tab's session keeps whose it is
device = None  # the id, while there is consent; a new one after each withdrawal


def read_device_id():
    """The id of this device as the browser has it, or ''."""
    # A match is an array; joined with a text, it becomes the id.
    return '' + (read_cookie(DEVICE_ID_NAME) or session.read(storage_key(DEVICE_ID_NAME)).match(UUID_PATTERN) or '')


def open_device():
    """Read or make the device id, and renew its cookie; whether this device was not seen before.

    What this tab's session knows of another device is forgotten.
    """
    global device
    known_id = read_device_id()
    device = known_id or new_uuid()
    if session.read(VISIT_KEY) != device:
        session.forget()
        session.write(VISIT_KEY, device)
    if not keep_cookie(device, known_id):
        session.write(storage_key(DEVICE_ID_NAME), device)
        say('cookie')
    mark(WITHDRAWAL_NAME, DELETED)
    return not known_id


def forget_device():
    """Have no device id any more, after consent was withdrawn."""
    global device
    device = None

"""The id of this installation: made at the first launch, and kept. To the service, an installation is a device."""

from ids import new_uuid
from stores import local, storage_key

DEVICE_KEY = 'install'
device = None  # the id, once the storage is read


def open_device():
    """Read the id, or make it."""
    global device
    device = local.read(storage_key(DEVICE_KEY)) or new_uuid()
    local.write(storage_key(DEVICE_KEY), device)


def renew_device():
    """Have another id from now on, after consent was withdrawn."""
    global device
    device = new_uuid()
    local.write(storage_key(DEVICE_KEY), device)

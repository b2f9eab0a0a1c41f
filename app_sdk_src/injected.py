"""Stands where the shared modules use what only browsers have. The build puts these names into their places."""

from options import options
from sha256 import sha256

__pragma__('skip')
from browser import __pragma__, globalThis

__pragma__('noskip')

AbortSignal = {}  # requests.py has a time limit of its own


def random_source():
    """The platform's `crypto`, or that of the option."""
    return options.crypto or globalThis.crypto


# React Native has no `crypto.subtle`: so SHA-256 is done here, on all platforms.
crypto = {
    'getRandomValues': lambda bytes: random_source().getRandomValues(bytes),
    'subtle': {'digest': lambda _, bytes: sha256(bytes)},
}

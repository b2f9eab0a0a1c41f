"""What the script tag's file does: put `Waylink` on the page, once, and carry out the calls that came before it."""

from waylink import Waylink

__pragma__('skip')
from browser import __pragma__, window

__pragma__('noskip')


def install():
    """Replace the snippet's stand-in, if there is one; a second copy of the script changes nothing."""
    early = window.Waylink
    if early and not early.q:
        return
    window.Waylink = Waylink
    for call in (early and early.q) or []:
        call[2](Waylink[call[0]](*call[1]))


install()

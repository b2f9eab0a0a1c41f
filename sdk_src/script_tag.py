"""What the script tag's file does: put `Waylink` on the page, once, and carry out the calls that came before it."""

from debug import say
from waylink import Waylink

__pragma__('skip')
from browser import __pragma__, window

__pragma__('noskip')


early = window.Waylink or ''
if not early.init or early.q:
    # In place of the snippet's stand-in, or of an element of that id; a second copy of the script changes nothing.
    window.Waylink = Waylink
    for call in early.q or []:
        try:
            call[2](Waylink[call[0]](*call[1]))
        except:
            say('unknown', call[0], True)

"""Puts `Waylink` on the page, once, and carries out the calls that the snippet queued before the script had loaded."""

from debug import say
from waylink import Waylink

__pragma__('skip')
from browser import __pragma__, window

__pragma__('noskip')

# What the snippet queues of a call.
METHOD_NAME = 0
ARGUMENTS = 1
RESOLVE = 2


present = window.Waylink or ''  # the snippet's stand-in, which has a queue `q`; else this script, or a page's element
if not present.init or present.q:
    window.Waylink = Waylink
    for call in present.q or []:
        try:
            call[RESOLVE](Waylink[call[METHOD_NAME]](*call[ARGUMENTS]))
        except:
            say('unknown', call[METHOD_NAME], True)

"""Puts `Waylink` on the page, once, and carries out the calls that the snippet queued before the script had loaded."""

from debug import say
from page import script_tag
from waylink import Waylink

__pragma__('skip')
from browser import __pragma__, JSON, RegExp, window

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
    attributes = JSON.stringify(script_tag and script_tag.dataset)
    if RegExp('"(api\\w*|key)":', 'i').test(attributes):
        Waylink.init(JSON.parse(attributes, lambda _, value: value != 'false' and (value or True)))

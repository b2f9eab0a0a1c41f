"""Where the visitor came from: the address is checked where there is a reason to, and the answer kept for the tab."""

from attribution import is_unchecked, remember
from calls import stamp, submit
from debug import say
from signals import read_signals
from stores import session

__pragma__('skip')
from browser import __pragma__, Object, Promise, __new__, location

__pragma__('noskip')


def make_check():
    """The check of the address as it is now."""
    return Object.assign(stamp('attribution'), {'signals': read_signals(location.search)})


def check(call, is_new):
    """Ask the service where the visitor came from, where there is a reason to; a promise of the first attempt."""
    if not (call.signals or is_new):
        say('known')
    elif not is_unchecked(session, call.page):
        say('checked')
    else:
        call.signals = call.signals or {}
        return __new__(Promise(lambda done: submit(call, {}, done)))


def received(context):
    """Keep what the service said of a check."""
    remember(session, context)

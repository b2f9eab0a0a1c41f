"""What the service said of the app's opens: the link that led there, kept for the app's listeners."""

from attempts import attempt
from consent import has_consent
from debug import say
from stores import local, storage_key

__pragma__('skip')
from browser import __pragma__, Promise

__pragma__('noskip')

CHECK = 'attribution'  # the kind of the call that tells a visit by a link
LAUNCHED_KEY = 'launched'  # under which is kept that the first launch was answered
NAMED = 'link'  # the match of an open whose link the app named
NativePromise = Promise
own_opens = {}  # by id, when the opens of this process happened
listeners = []
unheard = []  # answers that came before there was a listener
unremembered_visit = None  # the latest by a link while there was no consent: the link's id, and when


def is_due(check):
    """Whether a visit is to be told: where it has a link."""
    return check.signals


def resolve_attempted():
    """Nobody waits for the first attempt: each open has its own promise."""


def keep_result(result):
    """Tell the developer what the service refused, and the app where an open leads."""
    for code in ['error', 'notes']:
        if result[code]:
            say(code, result, True)
    if result.match:
        keep_open(result)


def keep_open(result):
    """Remember that the first launch is known, and hand the link to the app.

    An open by a link that an earlier process made leads nowhere now: whoever tapped it has gone on. The link of a first
    launch still does.
    """
    global unremembered_visit
    local.write(storage_key(LAUNCHED_KEY), 'yes')
    occurred_at = own_opens[result.call_id]
    if result.link and occurred_at and not has_consent():
        unremembered_visit = {'link_id': result.link.id, 'occurred_at': occurred_at}
    if result.destination_url and (occurred_at or result.match != NAMED):
        unheard.push(result)
        tell_listeners()


def tell_listeners():
    """Give each listener what none has heard."""
    if listeners.length:
        unheard.splice(0).forEach(tell)


def tell(result):
    listeners.slice().forEach(lambda listener: attempt('listener', lambda: listener(result)))


def listen(listener):
    """Tell this listener of each open that leads somewhere; returns what ends that."""
    listeners.push(listener)
    tell_listeners()

    def end():
        place = listeners.indexOf(listener)
        if place >= 0:
            listeners.splice(place, 1)

    return end


def take_unremembered_visit():
    """The visit by a link that was made without consent, once; None if there is none."""
    global unremembered_visit
    visit = unremembered_visit
    unremembered_visit = None
    return visit

"""Calls: stamped when they are made, kept until they may be sent, then completed and put into the outbox in order."""

from attribution import CHECK, Later, is_due
from call_rules import FIELDS, FORMS
from checks import take
from clock import now
from device_id import device
from hashing import hash_contacts
from ids import new_uuid
from options import IS_BROWSER
from outbox import add, bound, finish
from signals import read_signals
from stores import own, session

__pragma__('skip')
from browser import __pragma__, Object, URLSearchParams, __new__, location

__pragma__('noskip')

CUSTOMER = 'customer'
waiting = []  # entries of calls, until `init` has resolved and there is consent (contract, SDK rules 1 and 6)
is_open = IS_BROWSER and None  # then nobody waits on a server
last = None  # resolves once the latest call is in the outbox


def stamp(kind):
    """A new call of this kind, made now on this page; of the page's query only the signals: the rest can be private."""
    if IS_BROWSER:
        signals = read_signals(location.search)
        call = {
            'kind': kind,
            'call_id': new_uuid(),
            'occurred_at': now(),
            'page': location.origin + location.pathname + ('?' + __new__(URLSearchParams(signals)) if signals else ''),
        }
        if kind == CHECK:
            call.signals = signals
        return call


async def track(kind, given, name):
    """A promise of what became of a call at the first attempt to deliver it; it rejects for bad arguments only."""
    call = Object.assign(take(given, FIELDS[kind], FORMS, name), stamp(kind))
    return __new__(Later(lambda done: hold(call, done)))


def hold(call, done):
    """Send a call as soon as it may be; `done` runs after the first attempt, or when the call is dropped."""
    entry = {'call': call, 'done': done}
    waiting.push(entry)
    turn(is_open)
    bound(waiting, entry)


def turn(to):
    """From now on send each call when it is made, and what waits; or with False drop them; or with None keep them."""
    global is_open
    is_open = to
    if to != None:
        waiting.splice(0).forEach(submit if to else finish)


def submit(entry):
    """Put a call into the outbox, after those before it."""
    global last
    entry.device = device
    last = prepare(last, entry)


async def prepare(before, entry):
    try:
        await before
        await hash_contacts(entry.call)
        if entry.device == device and complete(entry.call):
            return add(entry)
    except:
        pass
    finish(entry)


def complete(call):
    """Add whom the tab's session knows to a call; whether it is to be sent."""
    if call.kind == CHECK:
        return is_due(call)
    if call.kind == 'identify':
        session.write(own(CUSTOMER), call.customer_id)
    call.customer_id = call.customer_id or session.read(own(CUSTOMER))
    return True

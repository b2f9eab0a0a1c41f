"""Calls: stamped when they are made, kept until they may be sent, then completed and put into the outbox in order."""

from address import address
from attribution import CHECK, NativePromise, is_due
from call_rules import FIELDS, PATTERNS
from checks import validate
from clock import now
from consent import has_consent
from device_id import device
from hashing import hash_contacts
from ids import new_uuid
from outbox import add, drop_excess, finish_entry, own
from page import IS_BROWSER
from signals import read_signals
from stores import session, storage_key

__pragma__('skip')
from browser import __pragma__, Object, URLSearchParams, __new__

__pragma__('noskip')

CUSTOMER_ID_KEY = 'customer'
# Of a page's address. The service takes 2,048, and says of a call that it has cut a longer one.
MAX_PAGE_CHARACTERS = 3000
UNDECIDED = None
waiting_entries = []  # of calls, until `init` has resolved and there is consent (contract, SDK rules 1 and 6)
may_send = UNDECIDED if IS_BROWSER else False  # on a server no call is kept, since none will ever be sent
last_submission = None  # resolves once the latest call is in the outbox


def new_call(kind):
    """A new call of this kind, made now on this page.

    Of the page's query it holds the signals only, since the rest can be private.
    """
    if IS_BROWSER:
        signals = read_signals(address)
        call = {
            'kind': kind,
            'call_id': new_uuid(),
            'occurred_at': now(),
            'page': (
                address.origin + address.pathname + ('?' + __new__(URLSearchParams(signals)) if signals else '')
            ).slice(0, MAX_PAGE_CHARACTERS),
        }
        if kind == CHECK:
            call.signals = signals
        return call


async def track_call(kind, arguments, preset):
    """A promise of what became of a call at the first attempt to deliver it; it rejects for bad arguments only."""
    call = Object.assign(validate(arguments, FIELDS[kind], PATTERNS, preset), new_call(kind))
    return __new__(NativePromise(lambda resolve: queue_call(call, resolve)))


def queue_call(call, resolve, change_device):
    """Send a call as soon as it may be; `resolve` runs after the first attempt, or when the call is dropped.

    With `change_device`, the call is the first of another device: this function runs when the call may be sent, after
    all calls before it.
    """
    waiting_entries.push({'call': call, 'resolve': resolve, 'change_device': change_device})
    allow_sending(may_send)
    if not has_consent():  # else they are about to be sent
        drop_excess(waiting_entries)


def allow_sending(permission):
    """With True, send the calls that wait, and from now on each call when it is made. With False, drop them.

    With UNDECIDED, keep them.
    """
    global may_send
    may_send = permission
    if permission != UNDECIDED:
        waiting_entries.splice(0).forEach(submit if permission else finish_entry)


def submit(entry):
    """Put a call into the outbox, after those that were submitted before it."""
    global last_submission
    entry.change_device and entry.change_device()
    entry.device = device
    last_submission = prepare(last_submission, entry)


async def prepare(previous_submission, entry):
    own_before = own
    try:
        if complete_call(entry.call):  # at once: the session may be another device's later
            await previous_submission
            await hash_contacts(entry.call)
            if own_before is own:  # else consent was withdrawn meanwhile
                return add(entry)
    except:
        pass
    finish_entry(entry)


def complete_call(call):
    """Add the customer whom this tab's session knows to a call; whether the call is to be sent."""
    if call.kind == CHECK:
        return is_due(call)
    if call.kind == 'identify':
        session.write(storage_key(CUSTOMER_ID_KEY), call.customer_id)
    call.customer_id = call.customer_id or session.read(storage_key(CUSTOMER_ID_KEY))
    return True

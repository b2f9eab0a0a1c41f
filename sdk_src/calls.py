"""Calls: stamped when they are made, then completed and put into the outbox in that order."""

from call_queue import create_call_queue
from consent import is_refused
from device_id import device, new_uuid
from hashing import hash_contacts
from stores import session

__pragma__('skip')
from browser import __pragma__, Date, JSON, Math, Object, Promise, __new__, js_TypeError, location

__pragma__('noskip')

CUSTOMER = 'cl_customer'
queue = create_call_queue(is_refused)
outbox = None  # each grant begins with a new one; a withdrawal ends what the old one's start began
latest = 0  # the time given last, in milliseconds since 1970
last = None  # resolves once the latest call is in the outbox


def use_outbox(opened):
    """Put calls into this outbox from now on, or into none."""
    global outbox
    outbox = opened


def stamp(kind):
    """A new call of this kind, made now on this page."""
    return {
        'kind': kind,
        'call_id': new_uuid(),
        'occurred_at': now(),
        'page': location.href.js_split('#')[0].substring(0, 2048),
    }


def now():
    """The time as ISO text, later at each call: what waits is sent in the order of its times."""
    global latest
    latest = Math.max(Date.now(), latest + 1)
    return __new__(Date(latest)).toISOString()


def track(kind, fields, wrong):
    """A promise that resolves after the first attempt to deliver; it rejects for bad arguments only."""
    if wrong:
        return settled(wrong)
    call = stamp(kind)
    copy = JSON.parse(JSON.stringify(fields or {}))
    return __new__(Promise(lambda done: queue.run(lambda: submit(call, copy, done), done)))


async def settled(wrong):
    """A promise that resolves, or that rejects with what is wrong."""
    return Promise.reject(__new__(js_TypeError(wrong))) if wrong else None


def submit(call, fields, done):
    """Put a call into the outbox, after those before it; `done` runs after the first attempt."""
    global last
    last = prepare(last, outbox, call, fields, done)


async def prepare(before, into, call, fields, done):
    await before
    try:
        if call.kind != 'attribution':
            fields.customer_id = fields.customer_id or session.read(CUSTOMER)
        if call.kind == 'identify':
            session.write(CUSTOMER, fields.customer_id)
        await hash_contacts(fields)
        if into == outbox:
            into.add(device, Object.assign(fields, call), done)
        else:
            done()
    except:
        done()

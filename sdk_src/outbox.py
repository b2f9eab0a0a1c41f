"""What the service has not acknowledged yet. It survives navigation, reload and a closed tab.

Each call has a storage key of its own, so that tabs never overwrite each other. An entry carries a lease, a time until
which one page is at work on it; others leave it alone until then. The service counts a call_id once, so a lease that is
broken by a crash costs nothing but a request. Times that are read are clamped: the clock that wrote them may have been
wrong, or somebody else may have written them.

Browsers end the requests of a page that goes away, some before they tell the page: such an end is no failure, and what
it left is sent once more.
"""

from attribution import received, tell
from clock import now
from cookies import delete_cookies
from debug import read_json, say
from device_id import device
from locks import alone
from options import batch_url, options
from stores import OURS, local, own, session

__pragma__('skip')
from browser import __pragma__, AbortSignal, Date, JSON, Math, WAYLINK_VERSION, clearTimeout, fetch, setTimeout

__pragma__('noskip')

TIMEOUT = 10000  # milliseconds
LONGEST_PAUSE = 3600000  # milliseconds
REFUSED = '400 401 403 413 415'  # statuses after which the same call would be refused again
CALL = 'call_'
PAUSE = 'pause'
LEASE = 30000  # milliseconds
SOON = 500  # milliseconds
MOST_KEPT = 100  # calls, and as many checks
MOST_STORED = 240000  # characters of each, without their keys
# Of a batch. A character has 4 bytes at the most, and keepalive 64 KiB; the service takes 50 calls, and none is shorter
# than 200 characters.
MOST_CHARACTERS = 10000
LONGEST_WAIT = 7 * 24 * 60 * 60 * 1000
fresh = []  # what this page added and no request has carried yet
is_leaving = False
outcome = None  # of the last attempt, as a code for the console
failures = 0
timer = None


def add(entry):
    """Send a call, now or with what waits; its `done` runs after the first attempt."""
    lease(entry, LEASE)
    fresh.push(entry)
    bound(fresh, entry)
    bound(stored_entries(), entry)
    flush()


def lease(entry, milliseconds):
    entry.until = Date.now() + milliseconds
    local.write(key_of(entry), JSON.stringify(entry))


def flush():
    """Send what this page added at once, since the visitor may be about to leave.

    What comes during a request shares the next.
    """
    if not fresh.is_busy:
        fresh.is_busy = True
        send_all(fresh)


async def send_all(entries):
    """Send these, and what is added to them meanwhile.

    With the last look at `fresh`, not later, the flush is over: a call that comes between would be sent by nobody.
    """
    try:
        while entries.length:
            await send_batch(take_batch(entries))
    except:
        pass
    entries.is_busy = False
    wake()


async def send_batch(batch):
    """Send a batch, unless there is a pause; what is not settled is free for the next attempt.

    Only the service's own words end a call: firewalls, proxies and portals answer with the same statuses.
    """
    global failures, outcome
    try:
        if pause_left() <= 0:
            try:
                # A list put together by hand, because of pages with an Array.prototype.toJSON.
                response = await post(
                    '{"calls":[' + batch.map(lambda entry: JSON.stringify(entry.call)).join() + '],', batch[0].device
                )
                wait = response.headers.js_get('retry-after')
                content = await read_json(response)
                for entry in batch:
                    result = (
                        REFUSED.includes(response.status)
                        and content.code > 0
                        and content.error.fieldName.length
                        and content
                    ) or content.results.find(lambda each: each.call_id == entry.call.call_id)  # noqa: B023 - run at once
                    if result:
                        result.status = status = 'rejected' if result.error else 'accepted'
                        entry.outcome = result
                        received(result)
                        drop(entry)
            except:
                pass
            outcome = status or ('refused' if response else 'offline')
            say(outcome, batch)
            if status:
                failures = 0
            elif not is_leaving:
                failures += 1
                local.write(own(PAUSE), Date.now() + ' ' + pause_of(wait))
    finally:
        for entry in batch:
            if entry.device == device and not entry.outcome:
                lease(entry, -1)
                entry.outcome = {'status': 'waiting'}
            finish(entry)
        if not device:
            erase(batch[0].device)  # once more: the service may have stored the batch after consent was withdrawn


async def post(head, owner):
    """Send the beginning of a batch, as JSON, and what each of a device's batches has; a promise of the response.

    A text is a content type without a preflight, and `keepalive` lets the request outlive the page; the browser refuses
    it when other requests of the page have used up its 64 KiB. Cookies go to the page's own origin only.
    """
    tail = JSON.stringify(
        {'api_key': options.apiKey, 'device_id': owner, 'sdk': 'js/' + WAYLINK_VERSION, 'sent_at': now()}
    )
    return fetch(
        batch_url(),
        {
            'method': 'POST',
            'body': head + tail.slice(1),
            'keepalive': is_leaving or not failures,
            'signal': AbortSignal.timeout and AbortSignal.timeout(TIMEOUT),
        },
    )


def erase(owner):
    """Delete all that is stored, and where the site wants it what the service has of this device."""
    local.forget()
    session.forget()
    delete_cookies()
    if owner and options.eraseOnWithdrawal:
        post('{"erase":true,', owner).then(read_json).then(received).catch(say)


def pause_of(text):
    """The milliseconds to wait: what a Retry-After header says, in seconds or as a date, but longer after each failure.

    The jitter keeps clients apart.
    """
    asked = text * 1000 or Date.parse(text) - Date.now() or 0
    return Math.min(Math.max(asked, failures * failures * (500 + 1000 * Math.random())), LONGEST_PAUSE)


def pause_left():
    """The milliseconds until something may be sent, none from 0 on.

    A pause that can't be counts as none, and so does one that begins later than now: the clock was set back since.
    """
    pause = local.read(own(PAUSE)).js_split(' ')
    since = Date.now() - pause[0]
    return pause[1] - since if since >= 0 and pause[1] <= LONGEST_PAUSE else 0


def wake():
    """An attempt is over: look at what is left after the pause, or soon, since other pages may be at work on it."""
    global timer
    clearTimeout(timer)
    left = stored_entries()
    if left.length:
        timer = setTimeout(recover, Math.max(pause_left(), 0) + SOON)
    tell()  # type: ignore[misc]


def recover(event, leaving):
    """Send what no page is at work on, one tab at a time.

    An event of the browser ends a pause that the service did not ask for. With `leaving` the page may end any moment:
    nothing is waited for, also what no request has carried yet goes, and what it sends is free for the next page as
    well.
    """
    global failures, is_leaving
    is_leaving = leaving
    if device:
        if event and outcome == 'offline':
            failures = 0
            local.remove(own(PAUSE))
        if leaving:
            send_all(fresh)
            send_stored()
        else:
            alone(OURS, send_stored)


def send_stored():
    free = stored_entries().filter(lambda entry: not (entry.until <= Date.now() + LEASE and entry.until > Date.now()))
    for entry in free:
        lease(entry, -1 if is_leaving else LEASE)
    return send_all(free)


def stored_entries():
    """Every entry in the store, oldest first; what is none of ours goes."""
    found = []
    for name in local.names(own(CALL)).js_sort():
        entry = read_entry(name, local.read(name))
        if entry:
            found.push(entry)
        else:
            say('dropped', name)
            local.remove(name)
    return found


def read_entry(name, text):
    """The entry that this is; nothing where it is not whole, or a week old."""
    try:
        entry = JSON.parse(text)
        if name == key_of(entry) and Math.abs(Date.now() - Date.parse(entry.call.occurred_at)) < LONGEST_WAIT:
            return entry
    except:
        pass


def discard():
    """Forget what no request has carried yet."""
    fresh.splice(0).forEach(drop)


def bound(entries, newest):
    """Drop the oldest of too many, or of too much, but a sale last. Checks, which no site asks for, count apart."""
    group = entries.filter(lambda entry: (not entry.call.signals) == (not newest.call.signals))
    if group.length > MOST_KEPT or JSON.stringify(group).length > MOST_STORED:
        oldest = group.find(lambda entry: entry.call.kind != 'conversion') or group[0]
        entries.splice(entries.indexOf(oldest), 1)
        say('dropped', oldest)
        drop(oldest)
        bound(entries, newest)


def drop(entry):
    """Keep a call no longer."""
    local.remove(key_of(entry))
    finish(entry)


def finish(entry):
    """The first attempt is over for this call, with its outcome, or there will be none."""
    entry.done and entry.done(entry.outcome)


def key_of(entry):
    """The storage key of an entry; in the order of their keys, entries are in the order of time."""
    return own(CALL + entry.call.occurred_at + entry.call.call_id)


def take_batch(entries):
    """Remove from `entries` what fits into one request: calls of one device, bounded in number and size."""
    count = 1
    while (entries[count] or {}).device == entries[0].device and JSON.stringify(
        entries.slice(0, count + 1)
    ).length < MOST_CHARACTERS:
        count += 1
    return entries.splice(0, count)

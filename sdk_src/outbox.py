"""The outbox: calls that the service has not acknowledged yet. They survive navigation, reload and a closed tab.

Each call has a storage key of its own, so that tabs never overwrite each other. An entry carries a lease: the time
until which one page is at work on it, and other pages leave it alone. The service counts a call_id once, so a lease
that a crash broke costs nothing but a request. A time that is read from storage is checked against the time now, since
the clock that it was written by may have been wrong, or somebody else may have written it.

Browsers end the requests of a page that goes away, some before they tell the page. Such an end is no failure, and the
calls of the request are sent once more.
"""

from attribution import keep_result, resolve_attempted
from clock import now
from cookies import delete_cookies, keep_cookie
from debug import read_json, say
from device_id import device
from ids import UUID_PATTERN
from locks import run_exclusively
from options import batch_url, options
from stores import KEY_PREFIX, local, session, storage_key

__pragma__('skip')
from browser import (
    __pragma__,
    AbortSignal,
    Date,
    JSON,
    Math,
    Object,
    RegExp,
    WAYLINK_VERSION,
    clearTimeout,
    fetch,
    setTimeout,
)

__pragma__('noskip')

REQUEST_TIMEOUT = 10000  # milliseconds
TOO_MANY_REQUESTS = 429  # the first of the statuses that a service may answer with by which calls are kept
FINAL_STATUSES = RegExp('40[013]|41[35]')  # after which the service would refuse the same call again
SALE = 'conversion'  # the kind of call that is dropped last, and goes first
CALL_PREFIX = 'call_'
PAUSE_KEY = 'pause'  # under which the pause's end is kept, in milliseconds since 1970
LEASE_TIME = 30000  # milliseconds
LEASE_ENDED = -1  # milliseconds from now: the entry is free for any page
RECHECK_DELAY = 500  # milliseconds
MAX_PAUSE = 60 * 60 * 1000  # milliseconds
MIN_RETRY_DELAY = 500  # milliseconds, after the first failure
MAX_JITTER = 1000  # milliseconds, likewise
SECOND = 1000  # milliseconds
MAX_AGE = 7 * 24 * 60 * 60 * 1000  # milliseconds by one clock, after which a call is dropped
MAX_STORED_CHARACTERS = 240000  # of calls, and as many of checks; without their keys
MIN_ENTRY_CHARACTERS = 2400  # that an entry counts as, so that there are 100 at most
# Of a batch. A character has 4 bytes at the most, and keepalive 64 KiB; the service takes 50 calls, and none is shorter
# than 200 characters.
MAX_BATCH_CHARACTERS = 10000
own = {}  # by their keys, the stored texts of what this page wrote and nobody has removed but the site
unfinished = {}  # by call_id: what this page is to send, and no attempt is over of yet
unsent_entries = []  # what this page added and no request has carried yet
is_leaving = False
# What `init` resolves with: how many calls were dropped, how many things thrown away that stood under our names and are
# no calls or too old, and how many answers came from something other than the service.
state = {'dropped': 0, 'unknown': 0, 'baseUrl': 0}
last_outcome = None  # of the last attempt, as a code for the console
failures = 0  # in succession
sending = None  # resolves once what this page added last was sent
timer = None


def add(entry):
    """Send a call, now or with those that wait; its `resolve` runs after the first attempt."""
    lease(entry, LEASE_TIME)
    unsent_entries.push(entry)
    drop_excess(stored_entries())
    send_unsent()


def lease(entry, milliseconds):
    """Store an entry, with a lease that ends so many milliseconds from now."""
    entry.until = Date.now() + milliseconds
    if milliseconds == LEASE_TIME:
        unfinished[entry.call.call_id] = entry
    own[entry_key(entry)] = JSON.stringify(entry)
    local.write(entry_key(entry), own[entry_key(entry)])


def send_unsent():
    """Send what this page added at once, since the visitor may be about to leave.

    The calls that come during a request share the next one.
    """
    global sending
    if not unsent_entries.is_busy:
        unsent_entries.is_busy = True
        sending = send_all(unsent_entries)


async def send_all(entries):
    """Send these entries, and those that are added to the list meanwhile.

    The list stops being busy right after the last look at it. `send_unsent` leaves a busy list alone: nobody would
    send a call that came in between.
    """
    try:
        while entries.length:
            await send_batch(take_batch(entries))
    except:
        pass
    entries.is_busy = False
    schedule_recovery()


async def send_batch(batch):
    """Send a batch, unless there is a pause. An entry without a result is free for the next attempt.

    Only the service's own words end a call: firewalls, proxies and portals answer with the same statuses.
    """
    global failures, last_outcome
    own_before = own
    try:
        if not remaining_pause():
            # JavaScript's variables are undefined until they are assigned: after an exception, some of these still are.
            try:
                # A list put together by hand, because of pages with an Array.prototype.toJSON.
                response = await post(
                    '{"calls":[' + batch.map(lambda entry: JSON.stringify(entry.call)).join() + '],', batch[0].device
                )
                retry_after = response.headers.js_get('retry-after')
                content = await read_json(response)
                for entry in batch:
                    batch_refusal = (
                        FINAL_STATUSES.test(response.status)
                        and content.code > 0
                        and content.error.fieldName.length
                        and content
                    )
                    result = batch_refusal or content.results.find(
                        lambda call_result: call_result.call_id == entry.call.call_id  # noqa: B023 - run at once
                    )
                    if result:
                        answered = 'rejected' if result.error else 'accepted'
                        result.status = answered
                        entry.outcome = result
                        keep_result(result, entry.device == device)
                        unstore(entry)
            except:
                pass
            last_outcome = answered or ('refused' if response else 'offline')
            say(last_outcome, batch)
            if not answered and response and response.status < TOO_MANY_REQUESTS:
                note('baseUrl', batch_url())
            if answered:
                failures = 0
            elif not is_leaving:
                failures += 1
                local.write(storage_key(PAUSE_KEY), Date.now() + retry_delay(retry_after))
    finally:
        for entry in batch:
            del unfinished[entry.call.call_id]
            # What a withdrawal has removed is not stored again.
            if own_before is own and not entry.outcome:
                lease(entry, LEASE_ENDED)
                entry.outcome = {'status': 'waiting'}
            finish_entry(entry)
        if not device:
            # Once more: the service may have stored the batch after consent was withdrawn.
            erase_device(batch[0].device)
        elif batch[0].device != device:
            # The answer may have set the former device's cookie again.
            keep_cookie(device, device)


async def post(json_start, device_id):
    """Send a request that begins with this JSON and goes on with the fields that all requests have.

    Returns a promise of the response.

    Its content type is that of a text, which needs no preflight. `keepalive` lets the request outlive the page; the
    browser refuses that when other requests of the page have used up its 64 KiB. Cookies go to the page's own origin
    only.
    """
    return fetch(
        batch_url(),
        {
            'method': 'POST',
            'body': json_start
            + JSON.stringify(
                {'api_key': options.apiKey, 'device_id': device_id, 'sdk': 'js/' + WAYLINK_VERSION, 'sent_at': now()}
            ).slice(1),
            'keepalive': is_leaving or not failures,
            'signal': AbortSignal.timeout and AbortSignal.timeout(REQUEST_TIMEOUT),
        },
    )


def erase_device(device_id):
    """Delete all that is stored; where the site wants it, have the service delete what it knows of this device."""
    local.forget()
    session.forget()
    delete_cookies()
    if device_id and options.eraseOnWithdrawal:
        post('{"erase":true,', device_id).then(read_json).then(keep_result).catch(say)


def retry_delay(retry_after):
    """The milliseconds to wait: what a Retry-After header says, in seconds or as a date, but longer after each failure.

    A random part keeps browsers from coming back all at once.
    """
    return Math.min(
        Math.max(
            retry_after * SECOND or Date.parse(retry_after) - Date.now() or 0,
            failures * failures * (MIN_RETRY_DELAY + MAX_JITTER * Math.random()),
        ),
        MAX_PAUSE,
    )


def remaining_pause():
    """The milliseconds until something may be sent; 0 if that is now."""
    return remaining_time(local.read(storage_key(PAUSE_KEY)), MAX_PAUSE)


def remaining_time(end, longest):
    """The milliseconds until this time; False where it is over, or so late that the clock was set back since."""
    remaining = end and end - Date.now()
    return remaining > 0 and remaining <= longest and remaining


def schedule_recovery():
    """After an attempt, see to entries that are left: once the pause is over, or soon if other pages may have them."""
    global timer
    clearTimeout(timer)
    entries = stored_entries()
    drop_excess(entries)
    if entries.length:
        timer = setTimeout(recover, remaining_pause() + RECHECK_DELAY)
    resolve_attempted()  # type: ignore[misc]


def recover(event, page_leaves):
    """Send the entries that no page is at work on, one tab at a time.

    An event of the browser ends a pause that the service did not ask for. With `page_leaves`, the page may end any
    moment: it waits for no lock, it also sends the calls that no request has carried yet, and all that it sends is free
    for the next page as well. Without, returns a promise that resolves once these entries were sent.
    """
    global failures, is_leaving
    is_leaving = page_leaves
    if device:
        if event and last_outcome == 'offline':
            failures = 0
            local.remove(storage_key(PAUSE_KEY))
        if page_leaves:
            send_stored()
            send_unsent_at_last()
        else:
            return run_exclusively(KEY_PREFIX, send_stored)


def send_unsent_at_last():
    """Send what no request has carried yet from a page that goes away: sales first, and free for the next page.

    Such a page waits for no answer between two requests.
    """
    entries = unsent_entries.splice(0).js_sort(sales_first)
    for entry in Object.js_values(unfinished):
        lease(entry, LEASE_ENDED)
    while entries.length:
        send_batch(take_batch(entries)).catch(say).then(schedule_recovery)


def send_stored():
    """Send the stored entries that no page is at work on."""
    free_entries = stored_entries().filter(
        lambda entry: not unfinished[entry.call.call_id] and not remaining_time(entry.until, LEASE_TIME)
    )
    for entry in free_entries:
        lease(entry, LEASE_ENDED if is_leaving else LEASE_TIME)
    return send_all(free_entries)


def stored_entries():
    """Every entry in the store, oldest first, with those that the site has deleted there.

    Under a call's key, anything that is no such entry is removed.
    """
    entries = []
    for key in Object.js_keys(own):
        if not local.read(key):
            local.write(key, own[key])
    for key in local.names(storage_key(CALL_PREFIX)).js_sort():
        entry = read_entry(key, local.read(key))
        if entry:
            entries.push(entry)
        else:
            note('unknown', key)
            local.remove(key)
    return entries


def read_entry(key, text):
    """The entry that this text holds; undefined where it is not whole, or has waited for too long.

    A call that is older than MAX_AGE, or not yet made, may be one whose clock was corrected since. It is kept for
    MAX_AGE from when it was found to be so.
    """
    try:
        entry = JSON.parse(text)
        is_of_now = Math.abs(Date.now() - (entry.since or Date.parse(entry.call.occurred_at))) < MAX_AGE
        if (
            key == entry_key(entry)
            # Equal to the match, which is an array, is only a text that is an id from its beginning to its end.
            and entry.device.match(UUID_PATTERN) == entry.device
            and entry.call.call_id.match(UUID_PATTERN) == entry.call.call_id
            and (is_of_now or not entry.since)
        ):
            return {
                'call': entry.call,
                'device': entry.device,
                'until': entry.until,
                'since': entry.since if is_of_now else Date.now(),
            }
    except:
        pass


def discard_unsent():
    """After a withdrawal, drop the calls that no request has carried yet, and let no failed request keep its own."""
    global own
    own = {}
    unsent_entries.splice(0).forEach(discard)


def forget_deleted():
    """Drop from memory the calls that the store no longer has."""
    for key in Object.js_keys(own):
        if not local.read(key):
            note('dropped', key)
            del own[key]


def drop_excess(entries):
    """Drop the oldest of too many entries, or of too many characters, but sales last.

    Checks, which no site asks for, are counted apart from all other calls: only they have signals. An entry takes a
    share of the room for entries, or of that for characters where it is long. A call that this page is still to send
    from its memory is removed from the store only.
    """
    used = {}  # characters, by whether the site made the call
    for entry in entries.slice().reverse().js_sort(sales_first):
        is_of_site = not entry.call.signals
        used[is_of_site] = (used[is_of_site] or 0) + Math.max(MIN_ENTRY_CHARACTERS, JSON.stringify(entry).length)
        if used[is_of_site] > MAX_STORED_CHARACTERS:
            entries.splice(entries.indexOf(entry), 1)
            unstore(entry)
            if not unfinished[entry.call.call_id]:
                note('dropped', entry)
                finish_entry(entry)


def sales_first(entry, other):
    """The order of two entries: sales before all else."""
    return (other.call.kind == SALE) - (entry.call.kind == SALE)


def unstore(entry):
    """Remove a call from the store."""
    del own[entry_key(entry)]
    local.remove(entry_key(entry))


def note(code, detail):
    """Count a loss, or an answer that is not the service's. The first of a kind is a warning."""
    say(code, detail, not state[code])
    state[code] += 1


def discard(entry):
    """Remove a call from the store unsent, and finish it."""
    unstore(entry)
    finish_entry(entry)


def finish_entry(entry):
    """Resolve a call's promise with the outcome of its first attempt; with none where no attempt is made."""
    entry.resolve and entry.resolve(entry.outcome)


def entry_key(entry):
    """The storage key of an entry; in the order of their keys, entries are in the order of time."""
    return storage_key(CALL_PREFIX + entry.call.occurred_at + entry.call.call_id)


def take_batch(entries):
    """Remove from `entries` what fits into one request: calls of one device, bounded in number and size."""
    count = 1
    while (
        count < entries.length
        and entries[count].device == entries[0].device
        and JSON.stringify(entries.slice(0, count + 1)).length < MAX_BATCH_CHARACTERS
    ):
        count += 1
    return entries.splice(0, count)

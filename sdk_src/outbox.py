"""What the service has not acknowledged yet. It survives navigation, reload and a closed tab.

Each call has a storage key of its own, so that tabs never overwrite each other. An entry carries a lease, a time until
which one page is at work on it; others leave it alone until then. The service counts a call_id once, so a lease that is
broken by a crash costs nothing but a request.
"""

__pragma__('skip')
from browser import __pragma__, Date, JSON, Math, Promise, __new__, clearTimeout, navigator, setTimeout

__pragma__('noskip')

PREFIX = 'cl_call_'
PAUSE = 'cl_pause'
LEASE = 30000  # milliseconds
MOST_CALLS = 50
MOST_KEPT = 100
MOST_CHARACTERS = 15000  # at most 4 bytes each, and keepalive has 64 KiB
LONGEST_WAIT = 7 * 24 * 60 * 60 * 1000
REFUSED = [400, 401, 403, 413, 415]  # the same call would be refused again


def create_outbox(store, post, send_on_leaving, received):
    """An outbox over a store.

    `post(entries, keepalive)` gives the service's answer, or None; `received` gets the attribution of each result.
    `add(device_id, call, done)` runs `done` after the first attempt. `recover(event)` sends what is left of earlier
    pages and attempts; an event of the browser ends a pause that the service did not ask for. `leave(event)` hands over
    what no request has carried yet. Browsers end the requests of a page that goes away, some before they tell the page:
    such an end is no failure, and what it left is sent once more. `discard()` forgets everything, for good.
    """
    fresh = []
    is_flushing = False
    is_leaving = False
    is_unanswered = False
    failures = 0
    timer = None

    def add(device_id, call, done):
        entry = {'device': device_id, 'call': call}
        lease(entry, LEASE)
        entry.done = done
        fresh.push(entry)
        flush()

    def lease(entry, milliseconds):
        entry.until = Date.now() + milliseconds
        store.write(key_of(entry), entry)

    async def flush():
        """Send what this page added; what comes during a request shares the next."""
        nonlocal is_flushing
        if is_flushing:
            return
        is_flushing = True
        # The request of a check has a task of its own: slow phones would stutter at one together with the start. The
        # other calls go at once, since the visitor may be about to leave.
        if fresh[0].call.signals:
            await __new__(Promise(setTimeout))
        await send_all(fresh)
        is_flushing = False
        wake()

    async def send_all(entries):
        """Send a batch at a time, unless there is a pause; what is not settled is free for the next attempt."""
        nonlocal failures
        while entries.length:
            batch = take_batch(entries)
            answer = {}
            if not is_paused():
                answer = await post(batch, not failures) or answer
                if REFUSED.includes(answer.status):
                    answer.results = calls_of(batch)
                if answer.results:
                    failures = 0
                elif not is_leaving:
                    pause(answer)
            for entry in batch:
                settle(entry, answer.results or [])

    def settle(entry, results):
        result = results.find(lambda each: each.call_id == entry.call.call_id)
        if result:
            received(result.attribution)
            store.remove(key_of(entry))
        else:
            lease(entry, -1)
        if entry.done:
            entry.done()

    def pause(answer):
        """Wait as long as the service asks, else longer after each failure; the jitter keeps clients apart."""
        nonlocal failures, is_unanswered
        failures += 1
        is_unanswered = not answer.status
        milliseconds = answer.wait or Math.min(2**failures * 500, 300000) * (0.5 + Math.random())
        store.write(PAUSE, Date.now() + milliseconds)

    def end_pause():
        """End a pause that the service did not ask for."""
        nonlocal failures
        if is_unanswered:
            failures = 0
            store.remove(PAUSE)

    def is_paused():
        return store.read(PAUSE) > Date.now()

    def wake():
        """Set the timer for what is left, or none."""
        nonlocal timer
        clearTimeout(timer)
        left = stored_entries()
        if left.length:
            at = Math.max(store.read(PAUSE) or 0, left[0].until)
            timer = setTimeout(recover, Math.max(at - Date.now(), 500))

    async def recover(event):
        """Send what no page is at work on, one tab at a time."""
        nonlocal is_leaving
        is_leaving = False
        if event:
            end_pause()
        if stored_entries().length:
            try:
                await navigator.locks.request(PREFIX, send_stored)
            except:
                await send_stored()
            wake()

    async def send_stored():
        if not is_paused():
            free = stored_entries().filter(lambda entry: entry.until < Date.now())
            for entry in free:
                lease(entry, LEASE)
            await send_all(free)

    def stored_entries():
        """Every entry in the store, oldest first; what is too old or too many is dropped."""
        found = []
        for name in store.names(PREFIX).js_sort():
            entry = store.read(name)
            if entry and entry.call and Date.now() - Date.parse(entry.call.occurred_at) < LONGEST_WAIT:
                found.push(entry)
            else:
                store.remove(name)
        for entry in found.splice(0, found.length - MOST_KEPT):
            store.remove(key_of(entry))
        return found

    def leave(event):
        nonlocal is_leaving
        is_leaving = event.js_type == 'pagehide'
        end_pause()
        while fresh.length:
            batch = take_batch(fresh)
            send_on_leaving(batch)
            for entry in batch:
                entry.done()
        send_stored()

    def discard():
        clearTimeout(timer)
        store.forget()
        store.write = store.remove  # an answer that is still to come must leave nothing behind
        for entry in fresh.splice(0):
            entry.done()

    return {'add': add, 'recover': recover, 'leave': leave, 'discard': discard}


def key_of(entry):
    """The storage key of an entry; in the order of their keys, entries are in the order of time."""
    return PREFIX + entry.call.occurred_at + entry.call.call_id


def calls_of(entries):
    """The calls of entries."""
    return entries.map(lambda entry: entry.call)


def take_batch(entries):
    """Remove from `entries` what fits into one request: calls of one device, bounded in number and size."""
    count = 1
    while (
        count < MOST_CALLS
        and entries[count]
        and entries[count].device == entries[0].device
        and JSON.stringify(entries.slice(0, count + 1)).length < MOST_CHARACTERS
    ):
        count += 1
    return entries.splice(0, count)

"""What the service has not acknowledged yet. It survives navigation, reload and a closed tab.

Each call has a storage key of its own, so that tabs never overwrite each other. An entry carries a lease, a time until
which one page is at work on it; others leave it alone until then. The service counts a call_id once, so a lease that is
broken by a crash costs nothing but a request.
"""

__pragma__('skip')
Date = JSON = Math = clearTimeout = navigator = setTimeout = None
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

    `post(device_id, calls, keepalive)` gives the service's answer, or None; `received` gets each result.
    `add(device_id, call, done)` runs `done` after the first attempt. `recover(event)` sends what is left of earlier
    pages and attempts; the browser's `online` event ends a pause that the service did not ask for. `leave()` hands over
    what no request has carried yet. `discard()` forgets everything, for good.
    """
    fresh = []
    is_flushing = False
    is_discarded = False
    is_unanswered = False
    failures = 0
    timer = None

    def add(device_id, call, done):
        entry = {'device': device_id, 'call': call, 'until': Date.now() + LEASE}
        keep(entry)
        entry.done = done
        fresh.push(entry)
        flush()

    def keep(entry):
        if not is_discarded:
            store.write(PREFIX + entry.call.call_id, entry)

    async def flush():
        """Send what this page added, a batch at a time; what comes during a request shares the next."""
        nonlocal is_flushing
        if is_flushing:
            return
        is_flushing = True
        await None
        while fresh.length:
            await send(take_batch(fresh))
        is_flushing = False
        wake()

    async def send(entries):
        """Send one batch, unless there is a pause; what the service did not settle is free for the next attempt."""
        nonlocal failures
        answer = {}
        if paused_until() < Date.now():
            answer = await post(entries[0].device, entries.map(lambda entry: entry.call), not failures) or {}
            if answer.results or REFUSED.includes(answer.status):
                failures = 0
            else:
                pause(answer)
        for entry in entries:
            settle(entry, answer)
            if entry.done:
                entry.done()

    def pause(answer):
        """Wait as long as the service asks, else longer after each failure; the jitter keeps clients apart."""
        nonlocal failures, is_unanswered
        failures += 1
        is_unanswered = not answer.status
        milliseconds = answer.wait * 1000 or Math.min(2 ** failures * 500, 300000) * (0.5 + Math.random())
        if not is_discarded:
            store.write(PAUSE, Date.now() + milliseconds)

    def paused_until():
        return store.read(PAUSE) or 0

    def settle(entry, answer):
        result = (answer.results or []).find(lambda each: each.call_id == entry.call.call_id)
        if result:
            received(result)
        if result or REFUSED.includes(answer.status):
            store.remove(PREFIX + entry.call.call_id)
        else:
            entry.until = 0
            keep(entry)

    def wake():
        """Set the timer for what is left, or none."""
        nonlocal timer
        clearTimeout(timer)
        left = stored_entries()
        if left.length:
            at = Math.max(paused_until(), Math.min(*left.map(lambda entry: entry.until)))
            timer = setTimeout(recover, Math.max(at - Date.now(), 500))

    async def recover(event):
        """Send what no page is at work on, one tab at a time."""
        if event and event.js_type == 'online' and is_unanswered:
            store.remove(PAUSE)
        if stored_entries().length:
            try:
                await navigator.locks.request('cl_outbox', send_stored)
            except:
                await send_stored()
            wake()

    async def send_stored():
        entries = stored_entries().filter(lambda entry: entry.until < Date.now())
        while entries.length and paused_until() < Date.now():
            batch = take_batch(entries)
            for entry in batch:
                entry.until = Date.now() + LEASE
                keep(entry)
            await send(batch)

    def stored_entries():
        """Every entry in the store, oldest first; what is too old or too many is dropped."""
        found = []
        for name in store.names():
            if name.startsWith(PREFIX):
                entry = store.read(name)
                if entry and entry.call and Date.now() - Date.parse(entry.call.occurred_at) < LONGEST_WAIT:
                    found.push(entry)
                else:
                    store.remove(name)
        found.js_sort(lambda a, b: -1 if a.call.occurred_at < b.call.occurred_at else 1)
        for entry in found.splice(0, found.length - MOST_KEPT):
            store.remove(PREFIX + entry.call.call_id)
        return found

    def leave():
        while fresh.length:
            batch = take_batch(fresh)
            send_on_leaving(batch[0].device, batch.map(lambda entry: entry.call))
            for entry in batch:
                entry.done()

    def discard():
        nonlocal is_discarded
        is_discarded = True
        clearTimeout(timer)
        store.forget()
        for entry in fresh.splice(0):
            entry.done()

    return {'add': add, 'recover': recover, 'leave': leave, 'discard': discard}


def take_batch(entries):
    """Remove from `entries` what fits into one request: calls of one device, bounded in number and size."""
    count = 1
    while (count < MOST_CALLS and entries[count] and entries[count].device == entries[0].device
            and JSON.stringify(entries.slice(0, count + 1)).length < MOST_CHARACTERS):
        count += 1
    return entries.splice(0, count)

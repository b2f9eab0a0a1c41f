"""What the service has not acknowledged yet. It survives navigation, reload and a closed tab.

Each call has a storage key of its own, so that tabs never overwrite each other. An entry carries a lease, a time until
which one page is at work on it; others leave it alone until then. The service counts a call_id once, so a lease that is
broken by a crash costs nothing but a request.
"""

__pragma__('skip')
Date = JSON = Math = Promise = clearTimeout = navigator = setTimeout = __new__ = None
__pragma__('noskip')

PREFIX = 'cl_call_'
LEASE = 30000  # milliseconds
MOST_CALLS = 50
MOST_CHARACTERS = 15000  # at most 4 bytes each, and keepalive has 64 KiB
LONGEST_WAIT = 7 * 24 * 60 * 60 * 1000
REFUSED = [400, 401, 403, 413, 415]  # the same call would be refused again


def create_outbox(store, post, send_on_leaving, received):
    """An outbox over a store. `post(device_id, calls)` gives the service's answer, or None; `received` gets each result.

    `add(device_id, call)` gives a promise that resolves after the first attempt. `recover()` sends what is left of earlier pages. `discard()` forgets everything.
    """
    fresh = []
    is_flushing = False
    failures = 0
    resume_at = 0
    timer = None

    def add(device_id, call):
        entry = {'device': device_id, 'call': call, 'until': Date.now() + LEASE}
        keep(entry)
        return __new__(Promise(lambda resolve: start(entry, resolve)))

    def start(entry, resolve):
        entry.done = resolve
        fresh.push(entry)
        Promise.resolve().then(flush)

    def keep(entry):
        store.write(PREFIX + entry.call.call_id, {'device': entry.device, 'call': entry.call, 'until': entry.until})

    async def flush():
        """Send what this page added, a batch at a time."""
        nonlocal is_flushing
        if is_flushing:
            return
        is_flushing = True
        while fresh.length:
            await send(take_batch(fresh))
        is_flushing = False

    async def send(entries):
        """Send one batch; whether the service settled it."""
        nonlocal failures, resume_at
        answer = await post(entries[0].device, calls_of(entries))
        settled = answer and (answer.results or REFUSED.includes(answer.status))
        if settled:
            failures = resume_at = 0
            settle(entries, answer.results or [])
        else:
            failures += 1
            pause = Math.min(2 ** failures * 500, 300000) * (0.5 + Math.random())
            resume_at = Date.now() + Math.max(pause, (answer and answer.wait or 0) * 1000)
            postpone(entries)
        wake()
        return settled

    def settle(entries, results):
        position = 0
        for entry in entries:
            store.remove(PREFIX + entry.call.call_id)
            if results[position]:
                received(results[position])
            finish(entry)
            position += 1

    def postpone(entries):
        for entry in entries:
            entry.until = resume_at
            keep(entry)
            finish(entry)

    def finish(entry):
        if entry.done:
            entry.done()

    def wake():
        """Set the timer for what is left, or none."""
        nonlocal timer
        clearTimeout(timer)
        left = stored_entries()
        if left.length:
            soonest = Math.min(*left.map(lambda entry: entry.until))
            timer = setTimeout(recover, Math.max(soonest, resume_at) - Date.now())

    async def recover():
        """Send what no page is at work on, one tab at a time."""
        if stored_entries().length:
            try:
                await navigator.locks.request('cl_outbox', send_stored)
            except:
                await send_stored()
            wake()

    async def send_stored():
        entries = free_entries()
        while entries.length and Date.now() >= resume_at:
            batch = take_batch(entries)
            for entry in batch:
                entry.until = Date.now() + LEASE
                keep(entry)
            await send(batch)

    def free_entries():
        return stored_entries().filter(lambda entry: entry.until <= Date.now())

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
        return found.js_sort(lambda a, b: -1 if a.call.occurred_at < b.call.occurred_at else 1)

    def leave():
        """The page goes away: hand over what has not been sent once."""
        while fresh.length:
            entries = take_batch(fresh)
            send_on_leaving(entries[0].device, calls_of(entries))

    def discard():
        fresh.splice(0)
        clearTimeout(timer)
        for name in store.names():
            if name.startsWith(PREFIX):
                store.remove(name)

    return {'add': add, 'recover': recover, 'leave': leave, 'discard': discard}


def calls_of(entries):
    """The calls in these entries."""
    return entries.map(lambda entry: entry.call)


def take_batch(entries):
    """Remove from `entries` what fits into one request: calls of one device, bounded in number and size."""
    count = 0
    size = 0
    while count < entries.length and count < MOST_CALLS and entries[count].device == entries[0].device:
        size += JSON.stringify(entries[count].call).length
        if count and size > MOST_CHARACTERS:
            break
        count += 1
    return entries.splice(0, count)

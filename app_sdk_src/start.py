"""The start of the client, and the person's consent."""

from attempts import attempt
from attribution import CHECK, LAUNCHED_KEY, take_unremembered_visit
from calls import allow_sending, last_submission, new_call, queue_call, submit, waiting_entries
from checks import validate
from consent import decision, has_consent, record_decision
from debug import say
from device_id import device, open_device, renew_device
from opens import begin_opens, is_open
from options import ADAPTERS, OPTION_PATTERNS, OPTIONS, options
from outbox import (
    LEASE_ENDED,
    PAUSE_KEY,
    discard_unsent,
    entry_key,
    erase_device,
    lease,
    recover,
    schedule_recovery,
    sending,
    stored_entries,
    unstore,
)
from requests import OFFLINE_KEY
from stores import load, local, saved, session, storage_key

__pragma__('skip')
from browser import __pragma__, JSON, Object, Promise, __new__, globalThis, js_TypeError

__pragma__('noskip')

FORGOTTEN_KEY = 'forgotten'  # under which is kept that the person was forgotten, and has not agreed since
HELD_PREFIX = 'held_'
start = None  # a promise that `init` gave
resolve_ready = None


def keep_resolver(resolve):
    global resolve_ready
    resolve_ready = resolve


ready = __new__(Promise(keep_resolver))  # resolves once the storage is read


async def init(arguments):
    """Start, once; whether it did. What is wrong with the options is told, and no exception reaches the app."""
    global start
    if start:
        say('init', None, True)
    else:
        start = begin(arguments)
    return await start


async def begin(arguments):
    global start
    options.onProblem = arguments and arguments.onProblem
    if not await attempt('options', lambda: take_options(arguments)):
        start = None
        return False
    await load()
    open_device()
    if local.read(storage_key(OFFLINE_KEY)):
        local.remove(storage_key(PAUSE_KEY))  # the network may be back; a pause that the service asked for stays
    for entry in stored_entries():
        lease(entry, LEASE_ENDED)  # of a process that has ended
    if has_consent():
        allow_sending(True)
    elif decision == None:
        hold_calls()
    else:
        forget_person()
    resolve_ready(True)  # type: ignore[misc]
    recover()
    await begin_opens()
    schedule_recovery()
    await saved()
    return True


def take_options(arguments):
    """Keep the options. Raises a TypeError that names the first that is wrong; else gives True."""
    plain = Object.assign({}, arguments)
    adapters = {}
    for name in ADAPTERS:
        adapters[name] = plain[name]
        del plain[name]
    valid = validate(plain, OPTIONS, OPTION_PATTERNS)
    if not (adapters.storage and adapters.storage.getItem and adapters.storage.setItem):
        raise __new__(js_TypeError('Waylink: storage'))
    if not ((adapters.crypto or globalThis.crypto) and (adapters.crypto or globalThis.crypto).getRandomValues):
        raise __new__(js_TypeError('Waylink: crypto'))
    Object.assign(options, valid, adapters)
    return True


def grant_consent():
    """The person agrees: send what waits, and tell the visit by the link that led here before."""
    record_decision(True)
    if device:
        local.remove(storage_key(FORGOTTEN_KEY))
        release_calls()
        visit = take_unremembered_visit()
        if visit:
            call = new_call(CHECK)
            call.occurred_at = visit.occurred_at
            call.signals = {'cl_link_id': visit.link_id}
            submit({'call': call})
        allow_sending(True)


def deny_consent():
    """The person does not agree, or no longer: forget the person."""
    record_decision(False)
    allow_sending(False)
    if device:
        forget_person()


def forget_person():
    """Forget what waits but for opens, which name nobody, and have another id.

    Once: an app says at each start that the person does not agree.
    """
    if local.read(storage_key(FORGOTTEN_KEY)):
        return
    opens = stored_entries().filter(is_open)
    is_launched = local.read(storage_key(LAUNCHED_KEY))
    discard_unsent()
    erase_device(device)
    renew_device()
    local.write(storage_key(FORGOTTEN_KEY), 'yes')
    if is_launched:
        local.write(storage_key(LAUNCHED_KEY), is_launched)
    for entry in opens:
        entry.device = device
        lease(entry, LEASE_ENDED)
    recover()
    say('denyConsent')


def hold_calls():
    """Take the calls of an earlier start out of the outbox, until the person has agreed in this one, too."""
    for entry in stored_entries():
        if not is_open(entry):
            unstore(entry)
            local.write(storage_key(HELD_PREFIX) + entry_key(entry), JSON.stringify(entry))


def release_calls():
    """Put the calls that were held back into the outbox."""
    for key in local.names(storage_key(HELD_PREFIX)):
        local.write(key.slice(storage_key(HELD_PREFIX).length), local.read(key))
        local.remove(key)
    recover()


def reset():
    """Be another installation from now on, nobody's. What waits of the former one still goes out as its own."""
    check = new_call(CHECK)
    check.signals = {}  # so that it does not count as one of the app's calls

    def change_device():
        check.signals = None  # there is no visit to tell
        session.forget()
        renew_device()

    queue_call(check, None, change_device)


async def flush():
    """Send what waits now, and wait for the answers; the number of calls that still wait then."""
    await start  # type: ignore[misc]
    recovery = recover({})
    await last_submission  # type: ignore[misc]
    await sending  # type: ignore[misc]
    await recovery
    await saved()
    return stored_entries().length + waiting_entries.length


def resume():
    """The app is in front again, or the network is back: send what waits now."""
    recover({})

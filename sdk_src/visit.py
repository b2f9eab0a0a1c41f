"""The visit of a page: begun by `init`, or by consent that comes later, and forgotten when consent is withdrawn."""

from attribution import CHECK, NativePromise, read_context, renew_attempted, resolve_attempted
from calls import UNDECIDED, allow_sending, last_submission, may_send, new_call, queue_call, submit, waiting_entries
from checks import OPTION_PATTERNS, OPTIONS, validate
from clock import now
from consent import DENIED_IN_OTHER_TAB, GRANTED_IN_OTHER_TAB, decision, has_consent, record_decision
from cookies import DEVICE_ID_NAME, WITHDRAWAL_NAME, delete_cookies, WITHDRAWAL_LIFETIME, has_cookie, mark, read_cookie
from debug import say
from device_id import device, forget_device, open_device, read_device_id
from history_hooks import watch_history
from locks import run_exclusively
from options import options, script_source
from outbox import (
    discard_unsent,
    erase_device,
    forget_deleted,
    own,
    recover,
    schedule_recovery,
    send_unsent_at_last,
    sending,
    state,
    stored_entries,
)
from page import IS_BROWSER, of_document
from stores import KEY_PREFIX, local, session, storage_key

__pragma__('skip')
from browser import __pragma__, Object, __new__, addEventListener, setTimeout, top, window

__pragma__('noskip')

loaded_at = now()
initialization = None  # what `init` returned
current_start = None  # a token of the latest start, while there is consent
# The check of the address that init was called on. Once there is a device, a promise of that check's first attempt.
landing = None
is_active = None  # whether there is something to do on this page, once init was called


def init(arguments):
    """Start, once; a promise that resolves when the first check was answered or tried in vain."""
    global initialization
    if is_active == None:
        initialization = begin_visit(arguments)
    else:
        say('init')
    return initialization


async def begin_visit(arguments):
    """Take the options, listen to the page, and start where there is consent already."""
    global landing, is_active
    try:
        Object.assign(options, IS_BROWSER and validate(arguments, OPTIONS, OPTION_PATTERNS))
    except:
        renew_attempted()  # there is nothing to wait for, unless init is called once more
        raise
    is_active = IS_BROWSER and (top == window or not not options.allowIframe)
    if is_active:
        if not (options.baseUrl or script_source):
            say('baseUrl', '', True)
        addEventListener('pageshow', on_outside_event)
        addEventListener('online', on_outside_event)
        addEventListener('storage', on_outside_event)
        addEventListener('visibilitychange', on_leave)
        addEventListener('pagehide', on_leave)
        if options.autoPageTracking != False:
            watch_history(check_address)
        landing = new_call(CHECK)
        landing.occurred_at = loaded_at  # the visitor landed before any call that the site made before init
        if has_consent():
            await start_visit()
        elif decision == False:
            forget_visitor()
        else:
            say('grantConsent')
        return state
    say('iframe')
    allow_sending(False)
    resolve_attempted()  # type: ignore[misc]


async def start_visit():
    """With consent: once the page is shown, open the device, check the address, then send the calls that wait."""
    global current_start
    if not current_start:
        own_start = current_start = {}
        try:
            await __new__(NativePromise(resolve_once_shown))
            # Browsers answer slowly when they are first asked for a cookie or for storage. Each of these has a task of
            # its own, and so has the request: slow phones would stutter at one long task.
            read_cookie(DEVICE_ID_NAME)
            await __new__(NativePromise(setTimeout))
            session.read(KEY_PREFIX)
            await __new__(NativePromise(setTimeout))
            if decision is True:
                local.write(KEY_PREFIX, storage_key(''))
            local.remove(KEY_PREFIX)
            await __new__(NativePromise(setTimeout))
            await run_exclusively(DEVICE_ID_NAME, arrive)
            await landing  # type: ignore[misc]
            if own_start == current_start:  # else consent was withdrawn meanwhile
                allow_sending(True)
                schedule_recovery()
        except:
            pass


def arrive():
    """Open the device and submit the check of the address that init was called on, once."""
    global landing
    if current_start and not device:
        check = landing or new_call(CHECK)
        if open_device():
            check.signals = check.signals or {}
        landing = __new__(NativePromise(lambda resolve: submit({'call': check, 'resolve': resolve})))


def begin_anew(change_device):
    """Go on as another device, which this function opens. What waits of the former one still goes out as its own.

    The new one is told without the signals of the address, which led the former one here.
    """
    check = new_call(CHECK)
    check.signals = {}
    queue_call(check, None, change_device)


def reset():
    """Be another device from now on, nobody's, in all tabs; consent stays as it is."""
    IS_BROWSER and begin_anew(replace_device)


def replace_device():
    """Delete the device and open a new one, which other tabs of the origin take over."""
    delete_cookies()
    take_over_device()
    local.write(KEY_PREFIX, DEVICE_ID_NAME)
    local.remove(KEY_PREFIX)


def take_over_device():
    """Open the device that the browser has now, or a new one."""
    session.remove(storage_key(DEVICE_ID_NAME))  # of a browser that refuses cookies
    open_device()


async def flush():
    """Send what waits now, and wait for the answers; the number of calls that still wait then."""
    send_at_once()
    recovery = recover({})
    await last_submission  # type: ignore[misc]
    await sending  # type: ignore[misc]
    await recovery
    return stored_entries().length + waiting_entries.length


def send_at_once():
    """Send also the calls that wait for the first answer; whether this page may send."""
    if current_start and not of_document('prerendering'):
        arrive()
        allow_sending(True)
        return True


def forget_visitor():
    """Delete what this page and earlier ones stored, and end what was begun.

    Where the site told another tab, that tab deletes what all tabs share. By now the shared data may already be that of
    a visitor who agreed again.
    """
    global landing, current_start
    forgotten_device = device or read_cookie(DEVICE_ID_NAME)
    current_start = None  # type: ignore[assignment]
    landing = None
    discard_unsent()
    forget_device()
    if decision is False:
        if forgotten_device:
            local.remove(KEY_PREFIX)  # else other tabs would not hear of the second of two withdrawals
            local.write(KEY_PREFIX, KEY_PREFIX)
            mark(WITHDRAWAL_NAME, WITHDRAWAL_LIFETIME)
        erase_device(forgotten_device)
    else:
        session.forget()
    say('denyConsent')


def apply_decision(new_decision):
    """Act on the visitor's decision, as consent.py describes it."""
    record_decision(new_decision)
    # A page that sends already goes on. Any other waits for `start_visit`.
    allow_sending(new_decision and (may_send or UNDECIDED))
    if is_active:
        if new_decision:
            start_visit()
        else:
            forget_visitor()
    if not new_decision:
        renew_attempted()


def on_outside_event(event):
    """React to the network, to the page's return from the browser's back/forward cache, and to other tabs.

    A tab tells the others of a decision by a key in storage. The key's value names the API key that was agreed to, and
    is removed at once, as is DEVICE_ID_NAME, which tells of a reset. Or it is KEY_PREFIX for a withdrawal, and stays
    until the visitor agrees, as does a cookie that other subdomains read. A page whose own site denied consent is not
    overruled. A page in the cache hears nothing, and looks when it comes back. Where its device is gone without a
    withdrawal, such as by `Clear-Site-Data`, it goes on as another.
    """
    if not event.newValue:
        del own[event.key]  # sent by another tab, or deleted by it
    has_lost_device = device and (event.newValue == DEVICE_ID_NAME or (event.persisted and read_device_id() != device))
    if event.newValue == KEY_PREFIX or (
        has_lost_device and (local.read(KEY_PREFIX) == KEY_PREFIX or has_cookie(WITHDRAWAL_NAME))
    ):
        apply_decision(DENIED_IN_OTHER_TAB)
    elif has_lost_device:
        if event.persisted:
            forget_deleted()
        begin_anew(take_over_device)
    elif event.newValue == storage_key('') and decision is not False:
        apply_decision(GRANTED_IN_OTHER_TAB)
    if not event.key:  # then it is no event of storage
        recover(event)


async def on_leave(event):
    """The page goes away, or may be ended while it is hidden: send also the calls that wait for the first answer.

    Where it may not send, and goes away (an event with `persisted`), a log-out that waits is carried out as far as it
    needs no consent: the device is deleted. A page that is given up while it is prerendered was never visited.
    """
    if send_at_once():
        recover(event, True)
        await last_submission  # type: ignore[misc]
        send_unsent_at_last()
    elif (
        event.persisted != None
        and not of_document('prerendering')
        and waiting_entries.find(lambda entry: entry.change_device)
    ):
        delete_cookies()
        session.forget()


def resolve_once_shown(resolve):
    """Resolve when the page is no longer prerendered, in a task of its own."""
    if of_document('prerendering'):
        addEventListener('prerenderingchange', resolve, True)
    else:
        setTimeout(resolve)


async def check_address():
    """Ask the service about the page's address, if it has signals."""
    check = new_call(CHECK)
    if check and check.signals:
        queue_call(check)
    else:
        say('signals')


def get_attribution():
    """The attribution of this tab's session, while there is consent; else None."""
    return read_context() if may_send else None

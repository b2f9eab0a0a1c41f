"""The visit of a page: begun by `init`, or by consent that comes later, and forgotten when consent is withdrawn."""

from attribution import CHECK, Later, read_context, renew, tell
from calls import hold, is_open, last, stamp, submit, turn
from checks import OPTION_FORMS, OPTIONS, take
from clock import now
from consent import decide, decision, has_consent
from cookies import NAME, read_cookie
from debug import explain, say
from device_id import close_device, device, known_device, open_device
from history_hooks import watch_history
from locks import alone
from options import IS_BROWSER, options, source
from outbox import discard, erase, recover, wake
from stores import OURS, local, own, session

__pragma__('skip')
from browser import __pragma__, Object, __new__, addEventListener, document, setTimeout, top, window

__pragma__('noskip')

loaded = now()
initialized = None
started = None  # a token of the latest start, while there is consent
landing = None  # the check of the address that init was called on; from the arrival on, a promise of its attempt
is_on = None  # once init was called; False where there is nothing to do, whatever is allowed


def init(given):
    """Start, once; a promise that resolves when the first check was answered or tried."""
    global initialized
    if is_on == None:
        initialized = begin(given)
    else:
        say('init')
    return initialized


async def begin(given):
    global landing, is_on
    try:
        Object.assign(options, IS_BROWSER and take(given, OPTIONS, OPTION_FORMS))
    except:
        renew()  # there is nothing to wait for, unless init is called once more
        raise
    is_on = IS_BROWSER and (top == window or not not options.allowIframe)
    if is_on:
        if not (options.baseUrl or source):
            say('baseUrl', '', True)
        addEventListener('pageshow', hear)
        addEventListener('online', hear)
        addEventListener('storage', hear)
        addEventListener('visibilitychange', leave)
        addEventListener('pagehide', leave)
        if options.autoPageTracking != False:
            watch_history(check_address)
        landing = stamp(CHECK)
        landing.occurred_at = loaded  # whoever calls before init landed before that
        if has_consent():
            await start()
        elif decision == False:
            forget()
        else:
            say('grantConsent')
    else:
        say('iframe')
        turn(False)
        tell()  # type: ignore[misc]


async def start():
    global started
    if not started:
        mine = {}
        started = mine
        try:
            await __new__(Later(once_shown))
            # Browsers answer slowly when they are first asked for a cookie or for storage: a task for each, and one for
            # the request. Slow phones would stutter at a long one.
            read_cookie(NAME)
            if options.debug:
                explain()
            await __new__(Later(setTimeout))
            session.read('')
            await __new__(Later(setTimeout))
            if decision is True:
                local.write(OURS, own(''))
            local.remove(OURS)
            await __new__(Later(setTimeout))
            await alone(NAME, arrive)
            await landing  # type: ignore[misc]
            if mine == started:
                turn(True)
                wake()
        except:
            pass


def arrive():
    """Open the device and check the address that init was called on, once; `landing` is the first attempt."""
    global landing
    if started and not device:
        check = landing or stamp(CHECK)
        if open_device():
            check.signals = check.signals or {}
        landing = __new__(Later(lambda done: submit({'call': check, 'done': done})))


def forget():
    """Delete what is stored, here and by earlier pages, and end what was begun.

    Where another tab was told, that one deletes what all share: by now it may be that of a visitor who agreed again.
    """
    global landing, started
    owner = device or read_cookie(NAME)
    started = None
    landing = None
    discard()
    close_device()
    if decision is False:
        if owner:
            local.write(OURS, OURS)
        erase(owner)
    else:
        session.forget()
    say('denyConsent')


def settle(to):
    """The visitor's decision, told to this page or, as 1 or 0, to another tab."""
    decide(to)
    turn(to and (is_open or None))
    if is_on:
        start() if to else forget()
    if not to:
        renew()


def hear(event):
    """What reaches the page from outside: the network, its own way back out of the browser's cache, and other tabs.

    A tab tells the others by a key in storage that is gone at once; its value names the API key that was agreed to, or
    none for a withdrawal. A page that was told 'no' itself is not overruled. A page in the cache hears nothing: whether
    the device is still known tells it.
    """
    if event.newValue == OURS or (event.persisted and device and known_device() != device):
        settle(0)
    elif event.newValue == own('') and decision is not False:
        settle(1)
    event.key or recover(event)


async def leave(event):
    """The page goes away, or may be ended while it is hidden: what waits for the first answer goes too."""
    if started and not document.prerendering:
        arrive()
        turn(True)
        recover(event, True)
        await last  # type: ignore[misc]
        recover(event, True)


def once_shown(resolve):
    """Resolve when the page is no longer prerendered, in a task of its own."""
    if document.prerendering:
        document.addEventListener('prerenderingchange', resolve)
    else:
        setTimeout(resolve)


async def check_address():
    check = stamp(CHECK)
    if check and check.signals:
        hold(check)
    else:
        say('signals')


def get_attribution():
    return read_context() if is_open else None

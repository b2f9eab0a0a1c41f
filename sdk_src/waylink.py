"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import read_context
from calls import last, now, outbox, queue, settled, track, use_outbox
from checks import check_conversion, check_event, check_fields, check_identity
from consent import decide, decision, has_consent, is_off, switch_off
from cookies import read_cookie
from debug import explain, say
from device_id import NAME, close_device, delete_device_id, device, open_device
from history_hooks import watch_history
from options import IS_BROWSER, batch_url, check_options, options, texts_url
from outbox import calls_of, create_outbox
from stores import open_store, session
from transport import post, send_on_leaving
from visit import check, make_check, received

__pragma__('skip')
from browser import __pragma__, JSON, Object, Promise, __new__, addEventListener, document, setTimeout, window

__pragma__('noskip')

VERSION = '0.1.0'
loaded = now()
initialized = None
is_ready = False  # once the first check was answered or tried
landing = None  # the check of the address that init was called on; from the arrival on, a promise of its attempt


# Starting


def init(given):
    """Start, once; a promise that resolves when the first check was answered or tried."""
    global initialized
    if initialized:
        say('twice')
        return initialized
    wrong = IS_BROWSER and check_options(given)
    if wrong:
        return settled(wrong)
    Object.assign(options, given)
    initialized = begin()
    return initialized


async def begin():
    global landing
    try:
        if options.debug:
            explain(texts_url(options.baseUrl))
        if not IS_BROWSER or (window.top != window and not options.allowIframe):
            switch_off()
            say('iframe')
            return queue.close()
        listen()
        landing = make_check()
        landing.occurred_at = loaded  # whoever calls before init landed before that
        if has_consent():
            await start()
        elif decision == False:
            forget()
        else:
            say('consent')
    except:
        pass


def listen():
    addEventListener('pagehide', leave)
    document.addEventListener('visibilitychange', leave)
    addEventListener('pageshow', recover)
    addEventListener('online', recover)
    if options.autoPageTracking != False:
        watch_history(quiet(track_page_view))


async def start():
    global is_ready
    if outbox:
        return
    mine = open_outbox()
    use_outbox(mine)
    try:
        await __new__(Promise(once_shown))
        # Browsers answer slowly when they are first asked for a cookie or for storage: a task for each.
        for first_read in [read_cookie, session.read, open_store('localStorage').read]:
            first_read(NAME)
            await __new__(Promise(setTimeout))
        if mine == outbox:
            await arrive()
        if mine == outbox:
            is_ready = True
            queue.open()
            recover()
    except:
        pass


def arrive():
    """Open the device and check the address that init was called on, once; a promise of the first attempt."""
    global landing
    if not device:
        landing = check(landing or make_check(), open_device())
    return landing


def open_outbox():
    return create_outbox(open_store('localStorage'), send, send_leaving, received)


# Sending


async def send(entries, keepalive):
    answer = await post(batch_url(options.baseUrl), envelope(entries), keepalive)
    if not device:
        delete_device_id()  # consent was withdrawn, and the answer may have set it again
    say(('sent' if answer.results else 'refused') if answer else 'unanswered', [calls_of(entries), answer])
    return answer


def send_leaving(entries):
    send_on_leaving(batch_url(options.baseUrl), envelope(entries))


def envelope(entries):
    """The batch as text; its list is put together by hand, because of pages with an Array.prototype.toJSON."""
    head = JSON.stringify(
        {
            'api_key': options.apiKey,
            'device_id': entries[0].device,
            'sdk': 'js/' + VERSION,
            'sent_at': now(),
        }
    )
    return head.slice(0, -1) + ',"calls":[' + entries.map(lambda entry: JSON.stringify(entry.call)).join() + ']}'


def recover(event):
    if device:
        outbox.recover(event)


async def leave(event):
    """The page goes away, or may be ended while it is hidden: what waits for the first answer goes too."""
    try:
        if outbox and not document.prerendering:
            arrive()
            queue.open()
            outbox.leave(event)
            await last  # type: ignore[misc]
            outbox.leave(event)
    except:
        pass


# Consent


def grant_consent():
    decide(True)
    if initialized and not is_off:
        start()


def deny_consent():
    decide(False)
    queue.close()
    if initialized and not is_off:
        forget()


def forget():
    """Delete what is stored, here and by earlier pages, and end what was begun."""
    global is_ready, landing
    is_ready = False
    (outbox or open_outbox()).discard()
    session.forget()
    close_device()
    landing = None
    use_outbox()
    say('denied')


# The contract's other calls


def identify(fields):
    wrong = check_identity(fields)
    if wrong:
        say('identify', wrong)
    else:
        track('identify', fields)


def get_attribution():
    return read_context(session) if is_ready else None


def track_lead(fields):
    return track('lead', fields, check_fields(fields))


def track_conversion(fields):
    return track('conversion', fields, check_conversion(fields))


def track_event(name, fields):
    return track('event', Object.assign({}, fields, {'name': name}), check_event(name, fields))


def track_page_view():
    call = make_check()
    queue.run(lambda: check(call), settled)


def once_shown(resolve):
    """Resolve when the page is no longer prerendered, in a task of its own: slow phones would stutter at a long one."""
    if document.prerendering:
        document.addEventListener('prerenderingchange', resolve)
    else:
        setTimeout(resolve)


def quiet(method):
    """The method, never throwing into the page."""

    def call(first, second):
        try:
            return method(first, second)
        except:
            return settled()

    return call


Waylink = {
    'init': quiet(init),
    'identify': quiet(identify),
    'trackLead': quiet(track_lead),
    'trackConversion': quiet(track_conversion),
    'trackEvent': quiet(track_event),
    'getAttribution': get_attribution,
    'grantConsent': quiet(grant_consent),
    'denyConsent': quiet(deny_consent),
    'hasConsent': has_consent,
    'trackPageView': quiet(track_page_view),
}

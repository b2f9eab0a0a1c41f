"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import is_unchecked, read_context, remember
from call_queue import create_call_queue
from checks import check_conversion, check_event, check_fields, check_identity
from cookies import read_cookie
from device_id import NAME, delete_device_id, new_uuid, write_device_id
from hashing import hash_contacts
from history_hooks import watch_history
from options import IS_BROWSER, batch_url, check_options
from outbox import calls_of, create_outbox
from signals import read_signals
from stores import open_store
from transport import post, send_on_leaving

__pragma__('skip')
Date = JSON = Math = Object = Promise = addEventListener = console = document = location = None
setTimeout = typeof = window = __new__ = None
__pragma__('noskip')

VERSION = '0.1.0'
SENT = 'Sent:'
REFUSED = 'Refused (429 and 5xx: sent again later):'
UNANSWERED = 'No answer, sent again later (offline, blocked, origin not allowed?):'
CUSTOMER = 'cl_customer'


def create_waylink():
    """One SDK for one page. Nothing happens before the first call."""
    queue = create_call_queue(lambda: is_off or consent == False)
    session = open_store('sessionStorage')
    options = None
    initialized = None
    consent = None  # None until the site says something
    is_off = False
    is_ready = False
    landing = None  # the check of the address that init was called on; from the arrival on, a promise of its attempt
    device_id = None
    outbox = None  # each grant begins with a new one; a withdrawal ends what the old one's start began
    latest = 0  # the time given last, in milliseconds since 1970
    last = None  # resolves once the latest call is in the outbox

    def say(text, calls, answer):
        if options.debug:
            console.log('[Waylink]', text, calls or '', answer or '')

    # Starting

    def init(given):
        nonlocal options, initialized
        if initialized:
            say('init ignored: called before')
            return initialized
        wrong = IS_BROWSER and check_options(given)
        if wrong:
            return settled(wrong)
        options = Object.assign({}, given)
        initialized = begin()
        return initialized

    async def begin():
        nonlocal is_off, landing
        try:
            is_off = not IS_BROWSER or window.top != window and not options.allowIframe
            if is_off:
                say('Nothing sent: iframe without allowIframe')
                return queue.close()
            listen()
            landing = make_check()
            landing.occurred_at = loaded  # whoever calls before init landed before that
            if hasConsent():
                await start()
            elif consent == False:
                forget()
            else:
                say('Nothing sent: waiting for grantConsent')
        except:
            pass

    def listen():
        addEventListener('pagehide', leave)
        document.addEventListener('visibilitychange', leave)
        addEventListener('pageshow', recover)
        addEventListener('online', recover)
        if options.autoPageTracking != False:
            watch_history(quiet(trackPageView))

    async def start():
        nonlocal is_ready, outbox
        if outbox:
            return
        mine = outbox = open_outbox()
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
        nonlocal landing
        if not device_id:
            landing = check(landing or make_check(), open_device())
        return landing

    def open_outbox():
        return create_outbox(open_store('localStorage'), send, send_leaving, received)

    def open_device():
        """Read or make the device id, and renew its cookie; whether this device was not seen before."""
        nonlocal device_id
        cookie = read_cookie(NAME)
        known = cookie or session.read(NAME)
        device_id = known or new_uuid()
        if not write_device_id(device_id, options.cookieDomain, cookie):
            session.write(NAME, device_id)
            say('Cookie refused: known in this tab')
        return not known

    # Sending

    async def send(entries, keepalive):
        answer = await post(batch_url(options.baseUrl), envelope(entries), keepalive)
        if not device_id:
            delete_device_id(options.cookieDomain)  # consent was withdrawn, and the answer may have set it again
        say((SENT if answer.results else REFUSED) if answer else UNANSWERED, calls_of(entries), answer)
        return answer

    def send_leaving(entries):
        send_on_leaving(batch_url(options.baseUrl), envelope(entries))

    def envelope(entries):
        """The batch as text; its list is put together by hand, because of pages with an Array.prototype.toJSON."""
        head = JSON.stringify({
            'api_key': options.apiKey,
            'device_id': entries[0].device,
            'sdk': 'js/' + VERSION,
            'sent_at': now(),
        })
        return head.slice(0, -1) + ',"calls":[' + entries.map(lambda entry: JSON.stringify(entry.call)).join() + ']}'

    def received(context):
        remember(session, context)

    def recover(event):
        if device_id:
            outbox.recover(event)

    async def leave(event):
        """The page goes away, or may be ended while it is hidden: what waits for the first answer goes too."""
        try:
            if outbox and not document.prerendering:
                arrive()
                queue.open()
                outbox.leave(event)
                await last
                outbox.leave(event)
        except:
            pass

    # Calls

    def make_check():
        return Object.assign(stamp('attribution'), {'signals': read_signals(location.search)})

    def check(call, is_new):
        """Ask the service where the visitor came from, where there is a reason to; a promise of the first attempt."""
        if not (call.signals or is_new):
            say('Nothing sent: known device, no signal in address')
        elif not is_unchecked(session, call.page):
            say('Nothing sent: address checked before in this tab')
        else:
            call.signals = call.signals or {}
            return __new__(Promise(lambda done: submit(call, {}, done)))

    def track(kind, fields, wrong):
        """A promise that resolves after the first attempt to deliver; it rejects for bad arguments only."""
        if wrong:
            return settled(wrong)
        call = stamp(kind)
        copy = JSON.parse(JSON.stringify(fields or {}))
        return __new__(Promise(lambda done: queue.run(lambda: submit(call, copy, done), done)))

    def submit(call, fields, done):
        nonlocal last
        last = prepare(last, outbox, call, fields, done)

    async def prepare(before, into, call, fields, done):
        """Complete a call and put it into the outbox, after the call before it."""
        await before
        try:
            if call.kind != 'attribution':
                fields.customer_id = fields.customer_id or session.read(CUSTOMER)
            if call.kind == 'identify':
                session.write(CUSTOMER, fields.customer_id)
            await hash_contacts(fields, say)
            if into == outbox:
                into.add(device_id, Object.assign(fields, call), done)
            else:
                done()
        except:
            done()

    def stamp(kind):
        return {
            'kind': kind,
            'call_id': new_uuid(),
            'occurred_at': now(),
            'page': location.href.js_split('#')[0].substring(0, 2048),
        }

    def now():
        """The time as ISO text, later at each call: what waits is sent in the order of its times."""
        nonlocal latest
        latest = Math.max(Date.now(), latest + 1)
        return __new__(Date(latest)).toISOString()

    # Consent

    def hasConsent():
        return consent if consent != None else not not options and options.consentMode != 'required'

    def grantConsent():
        nonlocal consent
        consent = True
        if initialized and not is_off:
            start()

    def denyConsent():
        nonlocal consent
        consent = False
        queue.close()
        if initialized and not is_off:
            forget()

    def forget():
        """Delete what is stored, here and by earlier pages, and end what was begun."""
        nonlocal is_ready, landing, device_id, outbox
        is_ready = False
        (outbox or open_outbox()).discard()
        session.forget()
        delete_device_id(options.cookieDomain)
        landing = None
        device_id = None
        outbox = None
        say('Nothing sent: no consent, stored data deleted')

    # The contract's other calls

    def identify(fields):
        wrong = check_identity(fields)
        if wrong:
            say('identify ignored: ' + wrong)
        else:
            track('identify', fields)

    def trackLead(fields):
        return track('lead', fields, check_fields(fields))

    def trackConversion(fields):
        return track('conversion', fields, check_conversion(fields))

    def trackEvent(name, fields):
        return track('event', Object.assign({}, fields, {'name': name}), check_event(name, fields))

    def getAttribution():
        return read_context(session) if is_ready else None

    def trackPageView():
        call = make_check()
        queue.run(lambda: check(call), settled)

    loaded = now()

    return {
        'init': quiet(init),
        'identify': quiet(identify),
        'trackLead': quiet(trackLead),
        'trackConversion': quiet(trackConversion),
        'trackEvent': quiet(trackEvent),
        'getAttribution': getAttribution,
        'grantConsent': quiet(grantConsent),
        'denyConsent': quiet(denyConsent),
        'hasConsent': hasConsent,
        'trackPageView': quiet(trackPageView),
    }


def once_shown(resolve):
    """Resolve when the page is no longer prerendered, in a task of its own: slow phones would stutter at a long one."""
    if document.prerendering:
        document.addEventListener('prerenderingchange', resolve)
    else:
        setTimeout(resolve)


async def settled(wrong):
    """A promise that resolves, or that rejects with what is wrong."""
    return Promise.reject(__new__(js_TypeError(wrong))) if wrong else None


def quiet(method):
    """The method, never throwing into the page."""

    def call(first, second):
        try:
            return method(first, second)
        except:
            return settled()

    return call

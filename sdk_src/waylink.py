"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import create_attribution
from call_queue import create_call_queue
from checks import check_conversion, check_event, check_identity, check_lead
from device_id import delete_device_id, new_uuid, read_device_id, write_device_id
from hashing import hashed
from history_hooks import watch_history
from options import batch_url, check_options
from outbox import create_outbox
from stores import open_store
from transport import post, send_on_leaving

__pragma__('skip')
Date = JSON = Object = Promise = addEventListener = console = document = location = None
typeof = window = __new__ = None
__pragma__('noskip')

VERSION = '0.1.0'
CUSTOMER = 'cl_customer'


def create_waylink():
    """One SDK for one page. Nothing happens before the first call."""
    queue = create_call_queue()
    options = None
    initialized = None
    starting = None
    consent = None  # None until the site says something
    is_off = False
    is_ready = False
    is_listening = False
    device_id = None
    session = None
    attribution = None
    outbox = None

    def say(*args):
        if options and options.debug:
            console.log('[Waylink]', *args)

    # Starting

    def init(given):
        nonlocal options, initialized
        if initialized:
            say('init was called before; this call is ignored.')
            return initialized
        wrong = check_options(given)
        if wrong:
            return Promise.reject(__new__(js_TypeError(wrong)))
        options = Object.assign({}, given)
        initialized = begin()
        return initialized

    async def begin():
        nonlocal is_off
        if typeof(document) != 'object':
            is_off = True
        elif window.top != window.self and not options.allowIframe:
            is_off = True
            say('This page is in an iframe and allowIframe is not set: nothing is stored or sent.')
        if is_off:
            queue.discard()
        elif hasConsent():
            await start()
        else:
            say('Calls wait until grantConsent.')

    def start():
        nonlocal starting
        starting = starting or run()
        return starting

    async def run():
        nonlocal is_ready
        if document.prerendering:
            await __new__(Promise(lambda shown: document.addEventListener('prerenderingchange', shown)))
        if not hasConsent():
            return
        open_stores()
        is_new = open_device()
        await check(is_new)
        if hasConsent():
            is_ready = True
            listen()
            queue.open()
            outbox.recover()

    def open_stores():
        nonlocal session, attribution, outbox
        if not session:
            session = open_store('sessionStorage')
            attribution = create_attribution(session, say)
            outbox = create_outbox(open_store('localStorage'), send, send_leaving, received)

    def open_device():
        """Read or make the device id, and renew its cookie; whether this device was not seen before."""
        nonlocal device_id
        known = read_device_id()
        device_id = known or device_id or new_uuid()
        write_device_id(device_id, options.cookieDomain)
        return not known

    def listen():
        nonlocal is_listening
        if is_listening:
            return
        is_listening = True
        addEventListener('pagehide', outbox.leave)
        addEventListener('pageshow', outbox.recover)
        addEventListener('online', outbox.recover)
        if options.autoPageTracking != False:
            watch_history(recheck)

    # Sending

    async def send(device, calls):
        url = batch_url(options.baseUrl)
        answer = await post(url, envelope(device, calls))
        say('Sent', calls, 'to', url, 'and got', answer or 'no answer; it is tried again.')
        return answer

    def send_leaving(device, calls):
        send_on_leaving(batch_url(options.baseUrl), envelope(device, calls))

    def envelope(device, calls):
        return JSON.stringify({
            'api_key': options.apiKey,
            'device_id': device,
            'sdk': 'js/' + VERSION,
            'sent_at': now(),
            'calls': calls,
        })

    def received(result):
        if hasConsent():
            attribution.remember(result.attribution)

    async def check(is_new):
        """Ask the service where the visitor came from, where there is a reason to."""
        signals = attribution.signals_to_check(is_new)
        if signals:
            await outbox.add(device_id, Object.assign(stamp('attribution'), {'signals': signals}))

    async def recheck():
        try:
            if is_ready:
                await check(False)
        except:
            pass

    def track(kind, fields, wrong):
        """A promise that resolves after the first attempt to deliver; it rejects for bad arguments only."""
        if wrong:
            return Promise.reject(__new__(js_TypeError(wrong)))
        if is_off or consent == False:
            return Promise.resolve()
        call = stamp(kind)
        return queue.run(lambda: complete(call, fields))

    async def complete(call, fields):
        try:
            customer = session.read(CUSTOMER)
            if customer:
                call.customer_id = customer
            if call.kind == 'identify':
                session.write(CUSTOMER, fields.customer_id)
            Object.assign(call, await hashed(fields, say))
            await outbox.add(device_id, call)
        except:
            say('This call could not be made.')

    def stamp(kind):
        return {
            'kind': kind,
            'call_id': new_uuid(),
            'occurred_at': now(),
            'page': location.href.js_split('#')[0].substring(0, 2048),
        }

    def now():
        return __new__(Date()).toISOString()

    # Consent

    def hasConsent():
        return consent if consent != None else bool_of(options and options.consentMode != 'required')

    def grantConsent():
        nonlocal consent
        consent = True
        if initialized and not is_off:
            start()

    def denyConsent():
        nonlocal consent, is_ready, starting
        consent = False
        is_ready = False
        starting = None
        queue.discard()
        queue.close()
        if initialized and not is_off:
            forget()

    def forget():
        nonlocal device_id
        open_stores()
        outbox.discard()
        attribution.forget()
        session.remove(CUSTOMER)
        delete_device_id(options.cookieDomain)
        device_id = None

    # The contract's other calls

    def identify(fields):
        wrong = check_identity(fields)
        if wrong:
            say(wrong)
        else:
            track('identify', fields)

    def trackLead(fields):
        return track('lead', fields, check_lead(fields))

    def trackConversion(fields):
        return track('conversion', fields, check_conversion(fields))

    def trackEvent(name, fields):
        return track('event', Object.assign({'name': name}, fields), check_event(name, fields))

    def getAttribution():
        return attribution.context() if is_ready else None

    def trackPageView():
        queue.run(recheck)

    return {
        'init': quiet(init),
        'identify': quiet(identify),
        'trackLead': quiet(trackLead),
        'trackConversion': quiet(trackConversion),
        'trackEvent': quiet(trackEvent),
        'getAttribution': quiet(getAttribution),
        'grantConsent': quiet(grantConsent),
        'denyConsent': quiet(denyConsent),
        'hasConsent': hasConsent,
        'trackPageView': quiet(trackPageView),
    }


def bool_of(value):
    """true or false."""
    return not not value


def quiet(method):
    """The method, never throwing into the page."""

    def call(first, second):
        try:
            return method(first, second)
        except:
            return Promise.resolve()

    return call

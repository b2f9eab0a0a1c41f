"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import renew, told
from calls import track
from consent import decide, decision, has_consent
from debug import say
from visit import forget, get_attribution, init, is_on, start, track_page_view


def grant_consent():
    if is_on != False:
        decide(True)
        if is_on:
            start()


def deny_consent():
    decide(False)
    if is_on:
        forget()
    renew()


def identify(fields):
    track('identify', fields).catch(lambda error: say('identify', error, True))


def track_lead(fields):
    return track('lead', fields)


def track_conversion(fields):
    return track('conversion', fields)


def track_event(name, fields):
    return track('event', fields, name)


async def when_attributed():
    """A promise of the context, or of None, once the check is answered or no answer is to come."""
    if decision != False:
        await told
    return get_attribution()


Waylink = {
    'init': init,
    'identify': identify,
    'trackLead': track_lead,
    'trackConversion': track_conversion,
    'trackEvent': track_event,
    'getAttribution': get_attribution,
    'whenAttributed': when_attributed,
    'grantConsent': grant_consent,
    'denyConsent': deny_consent,
    'hasConsent': has_consent,
    'trackPageView': track_page_view,
}

"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import attempted
from calls import track_call
from consent import decision, has_consent
from debug import say
from page import IS_BROWSER
from visit import apply_decision, check_address, flush, get_attribution, init, initialization, is_active, reset


def grant_consent():
    if is_active != False:
        apply_decision(True)


def deny_consent():
    apply_decision(False)


def identify(fields):
    track_call('identify', fields).catch(lambda error: say('identify', error, True))


def track_lead(fields):
    return track_call('lead', fields)


def track_conversion(fields):
    return track_call('conversion', fields)


def track_event(name, fields):
    return track_call('event', fields, {'name': name})


def track_page_view():
    check_address()


async def when_attributed():
    """A promise of the attribution, or of None: it resolves once the check was answered or tried in vain.

    It resolves at once where no check will come: when consent was denied, on a server, and where `init` was rejected.
    """
    if decision != False and IS_BROWSER and (is_active or not initialization):
        await attempted
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
    'reset': reset,
    'flush': flush,
}

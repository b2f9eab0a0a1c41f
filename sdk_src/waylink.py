"""The public object, `Waylink` (contract, "Browser SDK interface"). Camel case is the contract's, and only here."""

from attribution import told
from calls import track
from consent import decision, has_consent
from debug import say
from options import IS_BROWSER
from visit import check_address, get_attribution, init, initialized, is_on, settle


def grant_consent():
    if is_on != False:
        settle(True)


def deny_consent():
    settle(False)


def identify(fields):
    track('identify', fields).catch(lambda error: say('identify', error, True))


def track_lead(fields):
    return track('lead', fields)


def track_conversion(fields):
    return track('conversion', fields)


def track_event(name, fields):
    return track('event', fields, name)


def track_page_view():
    check_address()


async def when_attributed():
    """A promise of the context, or of None, once the check is answered, was tried in vain, or is not to come.

    It is not to come after a refusal, on a server, and where `init` was called and rejected.
    """
    if decision != False and IS_BROWSER and (is_on or not initialized):
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

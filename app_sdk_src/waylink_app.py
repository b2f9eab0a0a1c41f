"""The public object, `Waylink`, for apps. Nothing that it does throws, and no promise of it rejects."""

from attribution import listen
from calls import track_call
from consent import has_consent
from debug import say
from links import create_link
from opens import take_address
from start import deny_consent, flush, grant_consent, init, ready, reset, resume
from stores import saved

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')


async def track(kind, fields, preset):
    """A promise of what became of a call at the first attempt; wrong arguments are a rejection, too."""
    outcome = await track_call(kind, fields, preset).catch(reject)
    await saved()
    return outcome


def reject(error):
    """What became of a call with a field that is wrong, which is told as well."""
    wrong = error.message.js_replace(RegExp('^Waylink: '), '')  # a field, and mostly its value
    field = wrong.js_split(' ')[0]
    result = {'status': 'rejected', 'error': {'errorMessage': wrong + ' is wrong or missing', 'fieldName': field}}
    say('fields', result, True)
    return result


def identify(fields):
    return track('identify', fields)


def track_lead(fields):
    return track('lead', fields)


def track_conversion(fields):
    return track('conversion', fields)


def track_event(event_name, fields):
    return track('event', fields, {'name': event_name})


async def open_address(address):
    await ready
    outcome = await take_address(address)
    await saved()
    return outcome


Waylink = {
    'init': init,
    'open': open_address,
    'onOpen': listen,
    'createLink': create_link,
    'identify': identify,
    'trackLead': track_lead,
    'trackConversion': track_conversion,
    'trackEvent': track_event,
    'grantConsent': grant_consent,
    'denyConsent': deny_consent,
    'hasConsent': has_consent,
    'resume': resume,
    'reset': reset,
    'flush': flush,
}

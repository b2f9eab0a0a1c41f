"""What the developer is told: a code, a sentence, and what it is about."""

from options import options

__pragma__('skip')
from browser import __pragma__, console

__pragma__('noskip')

SENTENCES = {
    'accepted': 'Sent:',
    'addresses': 'The adapter for opened addresses failed:',
    'clipboard': 'The adapter for the clipboard failed:',
    'denyConsent': 'Consent withdrawn: waiting calls deleted, new installation id',
    'dropped': 'Dropped: too many calls wait:',
    'email': 'email not sent: it could not be hashed',
    'error': 'Rejected by the service:',
    'fields': 'Not sent, the name of the field that is wrong:',
    'init': 'init ignored: called before',
    'installReferrer': 'The adapter for the install referrer failed:',
    'listener': 'A listener of onOpen threw:',
    'notes': 'Taken, but not all of it:',
    'offline': 'No answer, sent again later:',
    'options': 'Not started, the name of the option that is wrong:',
    'phone': 'phone not sent: it has no digits',
    'refused': 'Refused (429, 5xx or not by the service), sent again later:',
    'rejected': 'Not taken by the service:',
    'storage': 'The storage failed, so this is kept until the app ends:',
    'unknown': 'Left out, an unknown name, or a stored call that is none or too old:',
}
# Of the codes that the shared modules say under `debug` only, those that an app's developer is always told.
ADDRESS = 'baseUrl'  # the shared modules' word for an answer that is not the service's, of which `refused` tells here
ALWAYS = ['dropped', 'email', 'phone', 'refused', 'storage']


def read_json(response):
    """A promise of an answer's JSON."""
    return response.json()


def say(code, detail, is_warning):
    """Tell `onProblem`, or else the console: warnings always, the rest with `debug`. Nothing here throws."""
    try:
        message = SENTENCES[code] or code
        if code == ADDRESS:
            return
        if is_warning or ALWAYS.includes(code):
            if options.onProblem:
                options.onProblem({'code': code, 'message': message, 'detail': detail})
            else:
                console.warn('Waylink', message, detail or '')
        elif options.debug:
            console.log('Waylink', message, detail or '')
    except:
        pass

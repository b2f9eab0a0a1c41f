"""The option `privacyControl`: Global Privacy Control is a withdrawal of consent, which a visitor's click lifts."""

from cookies import COOKIE_LIFETIME, DELETED, has_cookie, mark
from options import options
from page import IS_BROWSER

__pragma__('skip')
from browser import __pragma__, Object, __new__, js_TypeError, navigator

__pragma__('noskip')

AGREEMENT_NAME = 'cl_agreed'  # of the cookie that marks that the visitor agreed in spite of the signal
IGNORE = 'ignore'
WITHDRAW = 'withdraw'
native = {}  # what the parts of `Waylink` did that this module has replaced
is_heeded = False
has_agreed = False  # by a click on this page, where the browser refuses the cookie that other tabs can delete


def install(waylink, tag):
    """Take the option from `init`, or from the script's tag where it has the attribute. A server has no signal."""
    if not IS_BROWSER:
        return
    Object.assign(native, waylink)
    waylink.grantConsent = grant_consent
    waylink.denyConsent = deny_consent
    waylink.init = lambda arguments: init_with(arguments, tag and tag.dataset.privacyControl)
    if tag and tag.dataset.privacyControl == WITHDRAW:
        heed()


async def init_with(arguments, choice_of_tag):
    """Start the SDK with its own options, after the signal was heeded where it is to be."""
    rest = Object.assign({}, arguments)
    choice = choice_of_tag if rest.privacyControl == None else rest.privacyControl
    if choice != None and not [IGNORE, WITHDRAW].includes(choice):
        raise __new__(js_TypeError('Waylink: privacyControl'))
    del rest.privacyControl
    options.cookieDomain = rest.cookieDomain
    if (choice or (WITHDRAW if rest.consentMode == 'required' else IGNORE)) == WITHDRAW:
        heed()
    return await native.init(rest if arguments else arguments)


def heed():
    """From now on, withdraw consent where the browser has the signal."""
    global is_heeded
    is_heeded = True
    if is_opposed():
        native.denyConsent()


def is_opposed():
    """Whether the signal withdraws consent: it does but for a visitor who agreed in spite of it."""
    return is_heeded and navigator.globalPrivacyControl and not has_agreed and not has_cookie(AGREEMENT_NAME)


def grant_consent():
    """Agree, where there is no signal, or where this is a click's doing.

    A browser without `userActivation` can't tell a click from a script. Nothing lifts the signal there: a mistake would
    measure a visitor who said no.
    """
    global has_agreed
    if is_opposed():
        if not (navigator.userActivation and navigator.userActivation.isActive):
            return
        mark(AGREEMENT_NAME, COOKIE_LIFETIME)  # for later pages
        has_agreed = not has_cookie(AGREEMENT_NAME)
    native.grantConsent()


def deny_consent():
    """Refuse; the signal counts again."""
    global has_agreed
    native.denyConsent()
    has_agreed = False
    mark(AGREEMENT_NAME, DELETED)

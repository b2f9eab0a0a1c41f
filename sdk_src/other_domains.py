"""The option `otherDomains`: a link to another site of the owner hands the device over, so that both know one visit.

The address gets a parameter as it is clicked. It holds the device's id, the time, and a checksum over both, the host
that it is for, and what pages of all sites see of this browser. It is no secret: it keeps an address that somebody
sends to others from handing over the device, too.
"""

from cookies import DEVICE_ID_NAME, keep_cookie, read_cookie
from ids import UUID_PATTERN
from options import options
from page import IS_BROWSER
from parts import address_of, link_of, take_option
from stores import KEY_PREFIX

__pragma__('skip')
from browser import (
    __pragma__,
    Array,
    Date,
    Math,
    RegExp,
    StorageEvent,
    URL,
    __new__,
    addEventListener,
    dispatchEvent,
    document,
    history,
    js_TypeError,
    location,
    navigator,
    parseInt,
    performance,
    setTimeout,
    top,
    typeof,
    window,
)

__pragma__('noskip')

OPTION = 'otherDomains'
PARAMETER = 'cl_device'  # which the service leaves out of addresses (backend/domain/visitors/call_fields.py)
GIVEN = PARAMETER + '=[^&#]*'
LIFETIME = 2 * 60 * 1000  # milliseconds from the click to the arrival
BASE = 36  # of numbers in the parameter
# What `match` returns of a parameter's value.
DEVICE = 1
TIME = 2
CHECKSUM = 3
waylink = {}  # the page's; with the option, its `otherDomains` are the hosts, also for another copy of this part
told = None  # the parameter's value, as the address had it
handed_device = None  # of another site, until there is consent to take it over
loans = []  # links that lead to a listed site, with the parameter, until the browser has followed them


def install(page_waylink, tag):
    """Take the option from `init`, or from the script's tag."""
    global waylink
    waylink = page_waylink
    if IS_BROWSER:
        follow('grantConsent', take_over)
        follow('denyConsent', forget)
        follow('reset', forget)
        addEventListener('storage', lambda: setTimeout(take_over))  # the visitor may have agreed in another tab
    take_option(waylink, OPTION, name_hosts, take_over)
    try:
        name_hosts(tag.dataset.otherDomains, options)
        take_over()
    except:  # there is no such attribute, or no host in it
        pass


def follow(name, action):
    """Have this action follow each call of this name."""
    method = waylink[name]

    def call_and_act():
        method()
        action()

    waylink[name] = call_and_act


def name_hosts(names, arguments):
    """Take the owner's host names, which an attribute has in one text. Raises a TypeError for anything else."""
    listed = names.match(RegExp('[^\\s,]+', 'g')) if typeof(names) == 'string' else names
    hosts = listed.map(host_of) if Array.isArray(listed) else ['']
    if not hosts.every(lambda host: host):
        raise __new__(js_TypeError('Waylink: otherDomains'))
    is_watching = waylink[OPTION]
    waylink[OPTION] = hosts
    options.cookieDomain = arguments.cookieDomain
    if IS_BROWSER:
        read_told()
        if not is_watching:
            addEventListener('click', on_click, True)
            addEventListener('auxclick', on_click, True)


def host_of(name):
    """A host as browsers write it in addresses (`xn--…`), by its name or by an address there; else undefined."""
    try:
        return __new__(URL(name if name.includes('/') else 'https://' + name)).hostname
    except:
        pass


def take_parameter():
    """Remove the parameter from the address, and keep what it held. Of a router the address's state is its own.

    It does so as soon as this part has loaded: other scripts of the page read the address, too.
    """
    global told
    try:
        found = location.search.match(RegExp('[?&]' + PARAMETER + '=([^&]*)'))
        if found and top == window:
            told = found[1]
            history.replaceState(history.state, '', without_parameter(location.href))
    except:
        pass


def without_parameter(address):
    """The address without the parameter, as often as somebody put it there, and with all else as it was."""
    return address.js_replace(
        RegExp('([?&])' + GIVEN + '(?:&' + GIVEN + ')*(&?)', 'g'),
        lambda _, before, after: before if after else '',
    )


def read_told():
    """Know the device that was handed over: lately, by a listed site, to this host, in this browser."""
    global handed_device, told
    try:
        found = told.match('^(' + UUID_PATTERN + ')\\.(\\w+)\\.(\\w+)$')
        arrived_at = Date.now() - performance.now()
        age = arrived_at - parseInt(found[TIME], BASE)
        if (
            found[CHECKSUM] == checksum(found[DEVICE], found[TIME], location.hostname)
            and Math.abs(age) < LIFETIME
            and waylink[OPTION].includes(__new__(URL(document.referrer)).hostname)
        ):
            handed_device = found[DEVICE]
    except:
        pass
    told = None


def take_over():
    """With consent, be the device that was handed over: before the SDK opens one, or from then on."""
    global handed_device
    if handed_device and waylink.hasConsent():
        if document.prerendering:
            document.addEventListener('prerenderingchange', take_over)
        else:
            known_id = read_cookie(DEVICE_ID_NAME) or ''
            keep_cookie(handed_device, known_id)
            if read_cookie(DEVICE_ID_NAME) == handed_device and known_id != handed_device:
                # As another tab tells of a reset.
                dispatchEvent(__new__(StorageEvent('storage', {'key': KEY_PREFIX, 'newValue': DEVICE_ID_NAME})))
            handed_device = None


def forget():
    """Take nothing over any more."""
    global handed_device
    handed_device = None


def on_click(event):
    """Add the parameter to a link to a listed site for as long as the browser needs to follow it."""
    try:
        link = link_of(event)
        if link and waylink.hasConsent():
            url = __new__(URL(without_parameter(address_of(link)), document.baseURI))
            # The cookie is asked for last, since that is slow, and most clicks are on no such link.
            device = is_listed(url) and read_cookie(DEVICE_ID_NAME)
            if device:
                lend(link, handing_over(url, device))
    except:
        pass


def is_listed(url):
    """Whether an address is one of the owner's other sites, to which nobody on the way can read what is handed over."""
    return (
        waylink[OPTION].includes(url.hostname)
        and url.hostname != location.hostname
        and (url.protocol == 'https:' or url.protocol == location.protocol)
    )


def handing_over(url, device):
    """The address with the parameter, and with all else as it was."""
    time = Date.now().toString(BASE)
    parameter = PARAMETER + '=' + device + '.' + time + '.' + checksum(device, time, url.hostname)
    mark = '&' if url.href.js_split('#')[0].includes('?') else '?'
    return url.href.js_replace(RegExp('#|$'), lambda end: mark + parameter + end)


def lend(link, address):
    """Have the link lead to this address until the browser has followed it.

    A page may click a link again while a click on it is under way.
    """
    loans.filter(lambda loan: loan.link == link).forEach(give_back)
    loan = {'link': link, 'own_address': link.getAttribute('href'), 'address': address}
    if loan.own_address != None:
        link.setAttribute('href', address)
        loans.push(loan)
        setTimeout(lambda: give_back(loan))


def give_back(loan):
    """Have the link lead where it led before, unless the page has changed it."""
    global loans
    loans = loans.filter(lambda other: other != loan)
    if loan.link.getAttribute('href') == loan.address:
        loan.link.setAttribute('href', loan.own_address)


def checksum(device, time, host):
    """A number of 31 bits over what is handed over and what pages see of this browser (FNV-1a), as text."""
    text = [device, time, host, navigator.userAgent, navigator.language, __new__(Date()).getTimezoneOffset()].join()
    number = 2166136261
    for character in text:
        number = Math.imul(number ^ character.charCodeAt(0), 16777619)
    return (number & 2147483647).toString(BASE)


if IS_BROWSER:
    take_parameter()

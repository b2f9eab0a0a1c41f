"""The device cookie, on the widest domain that the browser accepts, found by trying (contract, "cookieDomain")."""

from address import address
from ids import UUID_PATTERN, new_uuid
from options import options
from page import of_document

DEVICE_ID_NAME = 'cl_device_id'
SERVICE_COOKIE_NAME = 'cl_device_id_kept'  # holds the id as well where the service set both cookies by header
COOKIE_LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow
WITHDRAWAL_NAME = 'cl_withdrawn'  # of the cookie that marks a withdrawal, for pages of other subdomains
WITHDRAWAL_LIFETIME = 24 * 60 * 60  # seconds; browsers keep pages for "Back" for less
PROBE_LIFETIME = 9  # seconds
DELETED = 0  # the lifetime of a cookie that is to go at once
MIN_LABELS = 2  # of a domain that a cookie is set on: browsers accept no single label
FIRST_GROUP = 1  # in what `match` returns


def read_cookie(name):
    """The id in the cookie of exactly this name, or None."""
    # No `split`, for which a browser prepares the pattern twice.
    match = ('; ' + of_document('cookie') + ';').match('; ' + name + '=(' + UUID_PATTERN + ');')
    return match and match[FIRST_GROUP]


def write_cookie(name, value, lifetime, domain):
    """Set a cookie for so many seconds, on a domain or, with '', on the host alone."""
    of_document(
        'cookie',
        name
        + '='
        + value
        + '; max-age='
        + lifetime
        + '; path=/; samesite=lax'
        + (domain and '; domain=' + domain)
        + ('; secure' if address.protocol == 'https:' else ''),
    )


def keep_cookie(device, known_id):
    """Set the cookie, or renew it in place, on `cookieDomain` or else the widest domain; whether the browser keeps it.

    The browser's own list of public suffixes decides: it refuses a cookie on co.uk or github.io. `known_id` is what the
    cookie holds already, or ''. Such a cookie is never deleted, since other tabs read it: another cookie, which goes at
    once, tells which domain is accepted. A cookie that the service set by header is left alone, since Safari ends a
    cookie that a script touched within days. Reading and writing each cost the page a call to the browser's process, so
    that both are done as seldom as can be.
    """
    for domain in cookie_domains():
        probe = new_uuid() if known_id else DEVICE_ID_NAME
        if known_id and read_cookie(SERVICE_COOKIE_NAME) == device:
            return True
        write_cookie(probe, device, PROBE_LIFETIME if known_id else COOKIE_LIFETIME, domain)
        if read_cookie(probe) == device:
            if known_id:
                write_cookie(probe, '', DELETED, domain)
                write_cookie(DEVICE_ID_NAME, device, COOKIE_LIFETIME, domain)
            return True


def delete_cookies():
    """Remove the device's cookies, whatever they hold, from every domain that they can have been set on."""
    mark(DEVICE_ID_NAME, DELETED)
    mark(SERVICE_COOKIE_NAME, DELETED)


def has_cookie(name):
    """Whether the page's cookies contain this name."""
    return ('' + of_document('cookie')).includes(name)


def mark(name, lifetime):
    """Set a cookie for so many seconds on the widest domain that the browser accepts; with DELETED, remove it.

    The page's cookies are read before each domain: mostly there is nothing to do.
    """
    for domain in cookie_domains():
        if (not has_cookie(name)) == (not lifetime):
            return
        write_cookie(name, lifetime and 1, lifetime, domain)


def cookie_domains():
    """The domains to try, in order: `cookieDomain` where it is given; then from the widest to the host's own name; ''.

    For app.acme.com these are acme.com, app.acme.com, and '' for the host alone.
    """
    labels = address.hostname.js_split('.')
    return [].concat(
        options.cookieDomain or [],
        labels.map(lambda _, index: labels.slice(-MIN_LABELS - index).join('.')),
        '',
    )

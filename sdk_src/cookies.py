"""The device cookie, on the widest domain that the browser accepts, found by trying (contract, "cookieDomain")."""

from ids import UUID, new_uuid
from options import options

__pragma__('skip')
from browser import __pragma__, document, location

__pragma__('noskip')

NAME = 'cl_device_id'
KEPT = 'cl_device_id_kept'  # holds the id as well where the service set both by header
LIFETIME = 400 * 24 * 60 * 60  # seconds; the longest that browsers allow


def read_cookie(name):
    """The id in the cookie of exactly this name, or undefined."""
    try:
        # Where there is none, no exception: to raise one costs a page more than all the rest of this. Nor a split, for
        # which a browser prepares the pattern twice.
        found = ('; ' + document.cookie + ';').match('; ' + name + '=(' + UUID + ');') or []
        return found[1]
    except:
        pass


def write_cookie(name, value, lifetime, domain):
    """Set a cookie for so many seconds, on a domain or, with '', on the host alone."""
    document.cookie = (
        name
        + '='
        + value
        + '; max-age='
        + lifetime
        + '; path=/; samesite=lax'
        + (domain and '; domain=' + domain)
        + ('; secure' if location.href[4] == 's' else '')  # https
    )


def keep_cookie(device, current):
    """Set the cookie, or renew it in place, on `cookieDomain` or else the widest domain; whether the browser keeps it.

    The browser's own list of public suffixes decides: it refuses a cookie on co.uk or github.io. A cookie that holds a
    `current` value is never deleted, since other tabs read it: another one, gone at once, tells which domain is
    accepted. One that the service set by header is left alone: Safari ends a cookie that a script touched within days.
    Reading and writing each cost the page a call to the browser's process, so that both are done as seldom as can be.
    """
    try:
        for domain in candidates():
            probe = new_uuid() if current else NAME
            if current and read_cookie(KEPT) == device:
                return True
            write_cookie(probe, device, 9 if current else LIFETIME, domain)
            if read_cookie(probe) == device:
                if current:
                    write_cookie(probe, '', 0, domain)
                    write_cookie(NAME, device, LIFETIME, domain)
                return True
    except:
        pass


def delete_cookies():
    """Remove the cookies, whatever they hold, from every domain that they can have been set on."""
    try:
        if document.cookie.includes(NAME):
            for domain in candidates():
                for name in [NAME, KEPT]:
                    write_cookie(name, '', 0, domain)
    except:
        pass


def candidates():
    """`cookieDomain` where it is given; `acme.com`, `app.acme.com`, then the host alone as '' for app.acme.com.

    A single label is never worth a try.
    """
    labels = location.hostname.js_split('.')
    return [].concat(options.cookieDomain or [], labels.map(lambda _, place: labels.slice(-2 - place).join('.')), '')

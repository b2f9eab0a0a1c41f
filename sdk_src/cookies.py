"""Cookies with an id, on the widest domain that the browser accepts, found by trying (contract, "cookieDomain")."""

__pragma__('skip')
from browser import __pragma__, document, location

__pragma__('noskip')

UUID = '[0-9a-f-]{36}'


def read_cookie(name):
    """The id in this cookie, or undefined or null."""
    try:
        found = document.cookie.match('\\b' + name + '=(' + UUID + ')')
        return found and found[1]
    except:
        pass


def write_cookie(name, value, lifetime, domain, current):
    """Set or renew a cookie, and with a `lifetime` of 0 seconds delete it; whether its value is then `value`.

    `current` is its value before, where it has one. Reading and writing each cost the page a call to the browser's
    process, so that both are done as seldom as can be.

    The browser's own list of public suffixes decides: it refuses a cookie on co.uk or github.io. A single label is
    never worth a try, so the first candidate has two; the last is the host alone. An old cookie is deleted first:
    as long as it can be read, nobody could tell whether the new one was accepted.
    """
    try:
        for candidate in [domain] if domain else candidates(location.hostname):
            attributes = '; path=/; samesite=lax' + ('; domain=' + candidate if candidate else '')
            if location.protocol == 'https:':
                attributes += '; secure'
            if current:
                document.cookie = name + '=; max-age=0' + attributes
                current = read_cookie(name)
            if not current:
                if not lifetime:
                    return
                document.cookie = name + '=' + value + '; max-age=' + lifetime + attributes
                current = read_cookie(name)
                if current:
                    return current == value
    except:
        pass


def candidates(host):
    """`acme.com`, then `app.acme.com`, then the host alone as '' for app.acme.com."""
    found = ['']
    labels = host.js_split('.')
    while labels.length > 1:
        found.unshift(labels.join('.'))
        labels.shift()
    return found

"""The widest domain that the browser accepts a cookie for, found by trying (contract, "cookieDomain")."""

__pragma__('skip')
document = location = None
__pragma__('noskip')


def write_on_widest_domain(cookie, lifetime, domain, took):
    """Write `cookie` (name=value) for the widest domain with which `took` says afterwards that it worked.

    The browser's own list of public suffixes decides: it refuses a cookie on co.uk or github.io. A single label is
    never worth a try, so the first candidate has two; the last is the host alone.
    """
    attributes = '; path=/; max-age=' + lifetime + '; samesite=lax'
    if location.protocol == 'https:':
        attributes += '; secure'
    for candidate in [domain] if domain else candidates(location.hostname):
        try:
            document.cookie = cookie + attributes + ('; domain=' + candidate if candidate else '')
            if took():
                return
        except:
            return


def candidates(host):
    """`acme.com`, then `app.acme.com`, then the host alone as '' for app.acme.com."""
    labels = host.js_split('.')
    found = []
    start = labels.length - 2
    while start >= 0:
        found.push(labels.slice(start).join('.'))
        start -= 1
    found.push('')
    return found

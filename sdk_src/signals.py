"""The attribution signals of an address (contract, SDK rule 3)."""

__pragma__('skip')
from browser import __pragma__, RegExp, URLSearchParams, __new__

__pragma__('noskip')

SIGNAL_NAMES = '^(cl_((link|click)_id|variant)|utm_(campaign|source|term|medium|content)|(fb|tt|g)clid|[gw]braid)$'
MAX_SIGNAL_CHARACTERS = 512


def read_signals(address):
    """The signals in a page's address, by name, or None where it has none; long values are cut.

    Those of its query come first, then those behind a `?` in its fragment, where hash routers have a route's query.
    Behind that, a second `#` may name a place on the page.
    """
    signals = None
    parameters = (address.search + address.hash).js_replace(RegExp('#[^?]*\\??', 'g'), '&')
    for signal_name, value in __new__(URLSearchParams(parameters)):
        if value and signal_name.match(SIGNAL_NAMES):
            signals = signals or {}
            signals[signal_name] = signals[signal_name] or value.slice(0, MAX_SIGNAL_CHARACTERS)
    return signals

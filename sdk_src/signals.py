"""The attribution signals of an address (contract, SDK rule 3)."""

__pragma__('skip')
from browser import __pragma__, URLSearchParams, __new__

__pragma__('noskip')

NAMES = '^(cl_((link|click)_id|variant)|utm_(campaign|source|term|medium|content)|(fb|tt|g)clid|[gw]braid)$'
LONGEST = 512


def read_signals(search):
    """The signals in a query string, by name, or None where it has none; long values are cut."""
    found = None
    for pair in __new__(URLSearchParams(search)):
        if pair[1] and pair[0].match(NAMES):
            found = found or {}
            found[pair[0]] = found[pair[0]] or pair[1].slice(0, LONGEST)
    return found

"""The attribution signals of an address (contract, SDK rule 3)."""

__pragma__('skip')
from browser import __pragma__, URLSearchParams, __new__

__pragma__('noskip')

NAMES = [
    'cl_link_id',
    'utm_source',
    'utm_medium',
    'utm_campaign',
    'utm_term',
    'utm_content',
    'fbclid',
    'gclid',
    'gbraid',
    'wbraid',
    'ttclid',
]
LONGEST = 512


def read_signals(search):
    """The signals in a query string, by name, or None where it has none; long values are cut."""
    found = None
    parameters = __new__(URLSearchParams(search))
    for name in NAMES:
        value = parameters.js_get(name)
        if value:
            found = found or {}
            found[name] = value.substring(0, LONGEST)
    return found

"""The times that calls carry."""

__pragma__('skip')
from browser import __pragma__, Date, Math, __new__

__pragma__('noskip')

latest = 0  # the time given last, in milliseconds since 1970


def now():
    """The time as ISO text, later at each call: what waits is sent in the order of its times."""
    global latest
    latest = Math.max(Date.now(), latest + 1)
    return __new__(Date(latest)).toISOString()

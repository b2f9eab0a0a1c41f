"""The times that calls carry."""

__pragma__('skip')
from browser import __pragma__, Date, Math, __new__

__pragma__('noskip')

LAST_TIME = 8.64e15  # what a Date can hold
latest_time = 0  # what `now` returned last, in milliseconds since 1970


def now():
    """The time as ISO text, later at each call, so that calls are sent in the order in which they were made."""
    global latest_time
    latest_time = Math.min(Math.max(Date.now(), latest_time + 1) or latest_time + 1, LAST_TIME)
    return __new__(Date(latest_time)).toISOString()

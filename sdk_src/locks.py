"""One tab of a site at a time."""

__pragma__('skip')
from browser import __pragma__, AbortSignal, navigator

__pragma__('noskip')

LONGEST_WAIT = 10000  # milliseconds


async def alone(name, work):
    """Run `work` while no other tab runs work of this name; just run it where there are no locks (plain http).

    A tab that the browser has put to sleep may hold the lock for hours, so that after a while `work` runs as well.
    """
    try:
        await navigator.locks.request(name, {'signal': AbortSignal.timeout(LONGEST_WAIT)}, work)
    except:
        await work()

"""Work that one tab of a site does at a time."""

__pragma__('skip')
from browser import __pragma__, AbortSignal, navigator

__pragma__('noskip')

LOCK_TIMEOUT = 10000  # milliseconds


async def run_exclusively(lock_name, work):
    """Run `work` while no other tab holds the lock of this name; at once where there are no locks (plain http).

    The browser may have put the tab that holds the lock to sleep for hours. So `work` runs after LOCK_TIMEOUT at the
    latest.
    """
    try:
        await navigator.locks.request(lock_name, {'signal': AbortSignal.timeout(LOCK_TIMEOUT)}, work)
    except:
        await work()

"""Work that one tab of a site does at a time."""

from attribution import NativePromise

__pragma__('skip')
from browser import __pragma__, __new__, navigator, setTimeout

__pragma__('noskip')

LOCK_TIMEOUT = 10000  # milliseconds


async def run_exclusively(lock_name, work):
    """Run `work`, once, while no other tab holds the lock of this name; at once where there are no locks (plain http).

    The browser may have put the tab that holds the lock to sleep for hours, and scripts of the page may answer in the
    browser's place. So `work` runs after LOCK_TIMEOUT at the latest.
    """

    def run():
        nonlocal work
        first = work
        work = None
        return first and first()

    try:
        await NativePromise.race(
            [
                navigator.locks.request(lock_name, run),
                __new__(NativePromise(lambda resolve: setTimeout(resolve, LOCK_TIMEOUT))),
            ]
        )
    except:
        pass
    await run()

"""One tab of a site at a time."""

__pragma__('skip')
from browser import __pragma__, navigator

__pragma__('noskip')


async def alone(name, work):
    """Run `work` while no other tab runs work of this name; just run it where there are no locks (plain http)."""
    try:
        await navigator.locks.request(name, work)
    except:
        await work()

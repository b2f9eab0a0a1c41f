"""Work that may fail, such as that of the app's own functions: nothing of it reaches the app's code as an exception."""

from debug import say

__pragma__('skip')
from browser import __pragma__

__pragma__('noskip')


async def run(work):
    return await work()


def attempt(code, work):
    """A promise of what `work` gives; where it fails, of None, and the developer is told this code."""
    return run(work).catch(lambda error: say(code, error, True))

"""Promises with a time limit."""

__pragma__('skip')
from browser import __pragma__, Promise, __new__, clearTimeout, setTimeout

__pragma__('noskip')


async def within(milliseconds, work):
    """What the promise `work` gives; an exception if that takes longer."""
    timer = None

    def reject_later(_, reject):
        nonlocal timer
        timer = setTimeout(reject, milliseconds)

    try:
        return await Promise.race([work, __new__(Promise(reject_later))])
    finally:
        clearTimeout(timer)

"""What `debug` says in the console."""

from options import options

__pragma__('skip')
from browser import __pragma__, console

__pragma__('noskip')


def say(text, calls, answer):
    """Say what happens, and why nothing happens, with the calls and the answer that it is about."""
    if options.debug:
        console.log('[Waylink]', text, calls or '', answer or '')

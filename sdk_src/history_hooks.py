"""Client-side route changes: pushState, replaceState, popstate (contract, SDK rule 7)."""

__pragma__('skip')
from browser import __pragma__, Proxy, __new__, addEventListener, history

__pragma__('noskip')


def watch_history(changed):
    """Call `changed` after each route change.

    The native method runs first, and its result or exception is passed on; a proxy keeps the name, length and text of
    whatever stood there, be it the browser's function or other code's wrapper.
    """

    def apply(method, owner, args):
        result = method.apply(owner, args)
        changed()
        return result

    for method in ['pushState', 'replaceState']:
        try:
            history[method] = __new__(Proxy(history[method], {'apply': apply}))
        except:
            pass
    addEventListener('popstate', changed)

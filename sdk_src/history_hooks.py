"""Client-side route changes: pushState, replaceState, popstate (contract, SDK rule 7)."""

__pragma__('skip')
from browser import __pragma__, History, Proxy, __new__, addEventListener, history

__pragma__('noskip')


def watch_history(changed):
    """Call `changed` after each route change.

    The native method runs first, and its result or exception is passed on; a proxy keeps the name, length and text of
    whatever stood there. It stands where that stood: on the prototype, where other code may wrap it later, and on
    `history` itself where other code's wrapper hides the prototype's.
    """

    def apply(method, owner, args):
        result = method.apply(owner, args)
        changed()
        return result

    for owner in [history, History.prototype]:
        for method in ['pushState', 'replaceState']:
            try:
                if owner.hasOwnProperty(method):
                    owner[method] = __new__(Proxy(owner[method], {'apply': apply}))
            except:
                pass
    addEventListener('popstate', changed)

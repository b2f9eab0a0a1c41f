"""Client-side route changes: pushState, replaceState, popstate (contract, SDK rule 7)."""

__pragma__('skip')
from browser import __pragma__, History, Proxy, __new__, addEventListener, history

__pragma__('noskip')


def watch_history(on_change):
    """Call `on_change` after each route change.

    The native method runs first, and its result or exception is passed on. A proxy keeps the name, length and text of
    the method whose place it takes. That place is the prototype, where other code may wrap the proxy later, and also
    `history` itself where a wrapper of other code hides the prototype's method.
    """

    def call_and_tell(method, this_object, arguments_list):
        result = method.apply(this_object, arguments_list)
        on_change()
        return result

    for owner in [history, History.prototype]:
        for name in ['pushState', 'replaceState']:
            try:
                if owner.hasOwnProperty(name):
                    owner[name] = __new__(Proxy(owner[name], {'apply': call_and_tell}))
            except:
                pass
    addEventListener('popstate', on_change)

"""Holds calls until `init` has resolved and there is consent, then runs them in order."""

__pragma__('skip')
Promise = __new__ = None
__pragma__('noskip')


def create_call_queue():
    """A closed queue.

    `run(call)` runs the call at once when the queue is open, else keeps it; it gives a promise of the call's result.
    `open()` runs what is kept, in order. `discard()` forgets it: those promises resolve with undefined.
    `close()` keeps later calls again.
    """
    waiting = []
    is_open = False

    def run(call):
        if is_open:
            return call()
        return __new__(Promise(lambda resolve: waiting.push([call, resolve])))

    def open():
        nonlocal is_open
        is_open = True
        for entry in waiting.splice(0):
            entry[1](entry[0]())

    def discard():
        for entry in waiting.splice(0):
            entry[1]()

    def close():
        nonlocal is_open
        is_open = False

    return {'run': run, 'open': open, 'discard': discard, 'close': close}

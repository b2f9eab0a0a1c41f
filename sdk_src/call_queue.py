"""Holds calls until `init` has resolved and there is consent, then runs them in order (contract, SDK rules 1 and 6)."""


def create_call_queue(is_refused):
    """A closed queue.

    `run(call, drop)` runs `call` at once when the queue is open, else keeps it, or runs `drop` while `is_refused()`.
    `open()` runs what is kept, in order. `close()` keeps later calls again; for what it forgets it runs `drop`.
    """
    waiting = []
    is_open = False

    def run(call, drop):
        if is_open:
            call()
        elif is_refused():
            drop()
        else:
            waiting.push([call, drop])

    def open():
        nonlocal is_open
        is_open = True
        for entry in waiting.splice(0):
            entry[0]()

    def close():
        nonlocal is_open
        is_open = False
        for entry in waiting.splice(0):
            entry[1]()

    return {'run': run, 'open': open, 'close': close}

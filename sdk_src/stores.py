"""The browser's storage where it works, and the page's memory where it does not (private windows, sandboxed frames)."""

__pragma__('skip')
from browser import __pragma__, JSON, Object, window

__pragma__('noskip')

MOST_CHARACTERS = 15000


def open_store(kind):
    """A store of JSON values over `localStorage` or `sessionStorage`, or in memory where that one refuses.

    `read(key)` gives the value or None, `write(key, value)` keeps it, `remove(key)` forgets it, `names(prefix)` gives
    the keys that begin so, `forget()` removes every key of ours. Values of more than `MOST_CHARACTERS` characters stay
    in memory, so that a site keeps its quota.
    """
    memory = {}

    def attempt(action):
        try:
            return action(window[kind])
        except:
            pass

    def read(key):
        return attempt(lambda native: JSON.parse(native.getItem(key))) or memory[key]

    def write(key, value):
        text = JSON.stringify(value)
        memory[key] = value
        if text.length < MOST_CHARACTERS and attempt(lambda native: [native.setItem(key, text)]):
            del memory[key]

    def remove(key):
        del memory[key]
        attempt(lambda native: native.removeItem(key))

    def names(prefix):
        return Object.js_keys(memory).concat(attempt(Object.js_keys) or []).filter(lambda name: name.startsWith(prefix))

    def forget():
        for name in names('cl_'):
            remove(name)

    return {'read': read, 'write': write, 'remove': remove, 'names': names, 'forget': forget}


session = open_store('sessionStorage')

"""The browser's storage where it works, and the page's memory where it does not (private windows, sandboxed frames)."""

from options import options

__pragma__('skip')
from browser import __pragma__, JSON, Object, window

__pragma__('noskip')

OURS = 'waylink:'  # every key of ours begins so, and then has the API key: two keys on one origin share nothing


def own(name):
    """The key in storage of what has this name."""
    return OURS + options.apiKey + ':' + name


def open_store(kind):
    """A store of texts over `localStorage` or `sessionStorage`, or in memory where that one refuses.

    `read(key)` gives the text or '', `write(key, text)` keeps it, `remove(key)` forgets it. `names(start)` gives the
    keys that begin so, `forget()` removes all that is ours, of every API key.
    """
    memory = {}

    def attempt(action):
        try:
            return action(window[kind])
        except:
            pass

    def read(key):
        return attempt(lambda native: native.getItem(key)) or memory[key] or ''

    def write(key, text):
        def keep(native):
            native.setItem(key, text)
            del memory[key]

        memory[key] = text
        attempt(keep)

    def remove(key):
        del memory[key]
        attempt(lambda native: native.removeItem(key))

    def names(start):
        return Object.js_keys(memory).concat(attempt(Object.js_keys) or []).filter(lambda key: key.startsWith(start))

    def forget():
        names(OURS).forEach(remove)

    return {'read': read, 'write': write, 'remove': remove, 'names': names, 'forget': forget}


def parse(text):
    """The value that a text of JSON stands for; undefined for any other."""
    try:
        return JSON.parse(text)
    except:
        pass


session = open_store('sessionStorage')
local = open_store('localStorage')

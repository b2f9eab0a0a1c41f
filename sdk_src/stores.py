"""The browser's storage where it works, and the page's memory where it does not (private windows, sandboxed frames)."""

from options import options

__pragma__('skip')
from browser import __pragma__, JSON, Object, window

__pragma__('noskip')

# Every key in storage that is Waylink's begins so. Then comes the API key: two API keys on one origin share nothing.
KEY_PREFIX = 'waylink:'


def storage_key(name):
    """The key in storage under which the value of this name is kept."""
    return KEY_PREFIX + options.apiKey + ':' + name


def open_store(native_name):
    """A store of texts over `localStorage` or `sessionStorage`, or in memory where the browser refuses that one.

    `read(key)` returns the text or '', `write(key, text)` keeps it, `remove(key)` removes it. `names(prefix)` returns
    the keys that begin so. `forget()` removes all that Waylink has stored, for every API key, but the visitor's last
    decision, which stands under KEY_PREFIX alone.
    """
    memory = {}

    def attempt(action):
        try:
            return action(window[native_name])
        except:
            pass

    def read(key):
        return '' + (attempt(lambda native_store: native_store.getItem(key)) or memory[key] or '')

    def write(key, text):
        def keep(native_store):
            native_store.setItem(key, text)
            del memory[key]

        memory[key] = text
        attempt(keep)

    def remove(key):
        del memory[key]
        attempt(lambda native_store: native_store.removeItem(key))

    def names(prefix):
        keys = Object.js_keys(memory).concat(attempt(Object.js_keys) or [])
        return keys.filter(lambda key: key.startsWith(prefix))

    def forget():
        names(KEY_PREFIX).filter(lambda key: key != KEY_PREFIX).forEach(remove)

    return {'read': read, 'write': write, 'remove': remove, 'names': names, 'forget': forget}


def parse_json(text):
    """The value of a text of JSON; undefined for any other text."""
    try:
        return JSON.parse(text)
    except:
        pass


session = open_store('sessionStorage')
local = open_store('localStorage')

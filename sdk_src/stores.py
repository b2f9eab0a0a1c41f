"""The browser's storage where it works, and the page's memory where it does not (private windows, sandboxed frames)."""

__pragma__('skip')
from browser import __pragma__, JSON, Object, window

__pragma__('noskip')

# Every key of this version (`waylink_…`) and of former ones (`cl_…`), whole, so that a site's own are left alone.
OURS = '^(cl|waylink)_(attribution|checked|pause|customer|device_id|call_[-:.\\w]{60})$'


def open_store(kind):
    """A store of texts over `localStorage` or `sessionStorage`, or in memory where that one refuses.

    `read(key)` gives the text or '', `write(key, text)` keeps it, `remove(key)` forgets it. `names()` gives the keys
    that are ours, `move()` takes over what former versions stored, `forget()` removes every key of ours.
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

    def names():
        return Object.js_keys(memory).concat(attempt(Object.js_keys) or []).filter(lambda name: name.match(OURS))

    def move():
        """Former versions stored JSON, also of what is a text."""
        for name in names():
            if name[0] == 'c':
                value = parse(read(name))
                write(name.js_replace('cl', 'waylink'), value if value is '' + value else read(name))
                remove(name)

    def forget():
        names().forEach(remove)

    return {'read': read, 'write': write, 'remove': remove, 'names': names, 'move': move, 'forget': forget}


def parse(text):
    """The value that a text of JSON stands for; undefined for any other."""
    try:
        return JSON.parse(text)
    except:
        pass


session = open_store('sessionStorage')
local = open_store('localStorage')

"""The browser's storage where it works, and the page's memory where it does not (private windows, sandboxed frames)."""

__pragma__('skip')
JSON = Object = window = None
__pragma__('noskip')


def open_store(kind):
    """A store of JSON values over `localStorage` or `sessionStorage`, or in memory when that one refuses to work.

    `read(key)` gives the value or None, `write(key, value)` keeps it as far as there is room, `remove(key)` forgets
    it, `names()` gives the keys.
    """
    native = None
    try:
        native = window[kind]
        native.setItem('cl_probe', '1')
        native.removeItem('cl_probe')
    except:
        native = None
    memory = Object.create(None)

    def read(key):
        try:
            return JSON.parse(native.getItem(key) if native else memory[key])
        except:
            return None

    def write(key, value):
        try:
            text = JSON.stringify(value)
            if native:
                native.setItem(key, text)
            else:
                memory[key] = text
        except:
            pass

    def remove(key):
        try:
            if native:
                native.removeItem(key)
            else:
                memory[key] = 'null'
        except:
            pass

    return {'read': read, 'write': write, 'remove': remove, 'names': lambda: Object.js_keys(native or memory)}

"""What the app keeps: in memory, and as one text in the storage that `init` was given.

All is under one key, so that a write that fails leaves what was there before, whole. Changes that are made while the
storage writes share its next write.
"""

from attempts import attempt
from options import options
from time_limit import within

__pragma__('skip')
from browser import __pragma__, JSON, Object, Promise

__pragma__('noskip')

KEY_PREFIX = 'waylink:'  # of all that is Waylink's. Then comes the API key: two API keys in one app share nothing.
STORAGE_TIMEOUT = 3000  # milliseconds
is_loaded = False
is_changed = False
writing = None  # while the storage writes, a promise of the end


def storage_key(name):
    """The key under which the value of this name is kept."""
    return KEY_PREFIX + options.apiKey + ':' + name


def open_store(on_change):
    """A store of texts. `on_change` runs after each change.

    `read(key)` returns the text or '', `write(key, text)` keeps it, `remove(key)` removes it. `names(prefix)` returns
    the keys that begin so. `forget()` removes everything. `texts` is what it holds.
    """
    texts = {}

    def read(key):
        return texts[key] or ''

    def write(key, text):
        texts[key] = text
        on_change()

    def remove(key):
        if texts[key] != None:
            del texts[key]
            on_change()

    def names(prefix):
        return Object.js_keys(texts).filter(lambda key: key.startsWith(prefix))

    def forget():
        names('').forEach(remove)

    return {'read': read, 'write': write, 'remove': remove, 'names': names, 'forget': forget, 'texts': texts}


def note_change():
    """Have the storage write what is kept now."""
    global is_changed, writing
    is_changed = True
    if is_loaded and not writing:
        writing = write_all()


async def write_all():
    global is_changed, writing
    while is_changed:
        await Promise.resolve()  # changes that are made together are written together
        is_changed = False
        await attempt('storage', lambda: options.storage.setItem(storage_key('all'), JSON.stringify(local.texts)))
    writing = None


async def load():
    """Read what the storage has of earlier starts of the app."""
    global is_loaded
    kept = parse_json(await attempt('storage', lambda: options.storage.getItem(storage_key('all')))) or {}
    for key in Object.js_keys(kept):
        local.texts[key] = '' + kept[key]
    is_loaded = True


async def saved():
    """Wait until all changes until now are written, but for no longer than STORAGE_TIMEOUT."""
    try:
        await within(STORAGE_TIMEOUT, writing)
    except:
        pass


def parse_json(text):
    """The value of a text of JSON; undefined for any other text."""
    try:
        return JSON.parse(text)
    except:
        pass


session = open_store(lambda: None)
local = open_store(note_change)

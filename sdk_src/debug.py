"""What the console says: a code, and with `debug` the sentence for it from the file beside the script."""

__pragma__('skip')
from browser import __pragma__, console, fetch

__pragma__('noskip')

sentences = None  # with `debug`, a promise of what `waylink.json` holds


def explain(url):
    """From now on say what happens, in the sentences of the file at this address."""
    global sentences
    sentences = read_sentences(url)


async def read_sentences(url):
    """The sentences, or none where the file can't be had: the codes are documented."""
    try:
        response = await fetch(url)
        return await response.json()
    except:
        return {}


async def say(code, detail):
    """With `debug`, say what happens, and why nothing happens, with what it is about."""
    try:
        known = await sentences  # type: ignore[misc]
        if known:
            console.log('[Waylink]', known[code] or code, detail or '')
    except:
        pass

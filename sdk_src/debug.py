"""What the console says: a code, and with `debug` the sentence for it from the file beside the script."""

from options import texts_url

__pragma__('skip')
from browser import __pragma__, console, fetch

__pragma__('noskip')

sentences = None  # with `debug`, a promise of what `waylink.json` holds


def explain():
    """From now on say what happens, in sentences."""
    global sentences
    sentences = read_sentences()


async def read_sentences():
    """The sentences, or none where the file can't be had: the codes are documented."""
    try:
        response = await fetch(texts_url())
        return await response.json()
    except:
        return {}


async def say(code, detail, level):
    """With `debug`, and in every mode with a `level` of the console, say the sentence for this code, else the code."""
    try:
        known = await sentences  # type: ignore[misc]
        if known or level:
            console[level or 'log']('Waylink', (known and known[code]) or code, detail or '')
    except:
        pass

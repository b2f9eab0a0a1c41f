"""What the console says: a code, and with `debug` and consent the sentence for it from the file beside the script."""

from options import options, texts_url

__pragma__('skip')
from browser import __pragma__, console, fetch

__pragma__('noskip')

sentences = None  # with `debug`, once there is consent, a promise of what `waylink.json` holds


def read_json(response):
    """What an answer holds, by one function: to say where a browser was asked costs more in a long one."""
    return response.json()


async def explain():
    """From now on say what happens, in sentences, or in codes where the file can't be had: these are documented."""
    global sentences
    sentences = fetch(texts_url()).then(read_json).catch(lambda _: {})


async def say(code, detail, warns):
    """With `debug`, and where it `warns` in every mode, say the sentence for this code, else the code."""
    try:
        known = await sentences or options.debug or warns  # type: ignore[misc]
        if known:
            console['warn' if warns else 'log']('Waylink', known[code] or code, detail or '')
    except:
        pass

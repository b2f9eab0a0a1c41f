"""Messages on the console: a code; with `debug` and consent its sentence, from the file beside the script."""

from options import options, sentences_url

__pragma__('skip')
from browser import __pragma__, console, fetch

__pragma__('noskip')

sentences = {}  # by code; with `debug`, once there is consent, a promise of what `waylink.json` holds


def read_json(response):
    """A promise of an answer's JSON.

    All modules call this one, since Chromium parses the function around such a call once more.
    """
    return response.json()


def load_sentences():
    """Say sentences from now on, or still codes where the file can't be loaded: docs/sdk.md explains them."""
    global sentences
    sentences = fetch(sentences_url()).then(read_json).catch(lambda _: '')


async def say(code, detail, is_warning):
    """Write the sentence of this code to the console, or the code itself: warnings always, else with `debug` only."""
    try:
        sentence_by_code = await sentences  # type: ignore[misc]
        if options.debug or is_warning:
            console['warn' if is_warning else 'log']('Waylink', sentence_by_code[code] or code, detail or '')
    except:
        pass

"""Messages on the console: a code, or the sentence that the site gives for it, such as those of `waylink.json`."""

from options import options

__pragma__('skip')
from browser import __pragma__, console

__pragma__('noskip')


def read_json(response):
    """A promise of an answer's JSON.

    All modules call this one, since Chromium parses the function around such a call once more.
    """
    return response.json()


def say(code, detail, is_warning):
    """Write this code to the console: warnings always, else with `debug` only.

    The option may be an object of sentences by code, which are said in the codes' places.
    """
    try:
        if options.debug or is_warning:
            console['warn' if is_warning else 'log'](
                'Waylink', (options.debug and options.debug[code]) or code, detail or ''
            )
    except:
        pass

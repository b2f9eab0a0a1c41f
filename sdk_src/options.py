"""What `init` takes (contract, "init options")."""

__pragma__('skip')
from browser import __pragma__, RegExp, URL, __new__, document, location, typeof

__pragma__('noskip')

IS_BROWSER = typeof(document) == 'object'
# The script tag that runs this file, while it runs; a module has none.
script = IS_BROWSER and document.currentScript
SDK_PATH = '/serviceCore/sdk/v1/batch'
TYPE = RegExp('\\.js(\\?.*)?$')
options = {}  # what `init` was given


def check_options(options):
    """What is wrong with the options, in a sentence, or None."""
    if not options or typeof(options.apiKey or 0) != 'string':
        return 'apiKey is required: your public key'
    mode = options.consentMode
    if mode != None and mode != 'required' and mode != 'not_required':
        return "consentMode must be 'required' or 'not_required'"
    try:
        batch_url(options.baseUrl)
    except:
        return 'baseUrl must be an address'


def batch_url(base_url):
    """Where calls are sent: below `baseUrl`, else where the script came from, else the page's own origin."""
    return address_of(base_url, SDK_PATH, not base_url and script and script.src)


def texts_url(base_url):
    """Where the sentences of `debug` are: beside the script, else where it would be."""
    source = script and script.src
    return source.js_replace(TYPE, '.json') if source else address_of(base_url, '/waylink.json')


def address_of(base_url, path, source):
    """The address of a path below `baseUrl`, on the host of `source` or else of the page."""
    return __new__(URL((base_url or '').js_replace(RegExp('/?$'), path), source or location.href)).href

"""What `init` takes (contract, "init options")."""

__pragma__('skip')
document = location = URL = typeof = __new__ = None
__pragma__('noskip')

# The script tag that runs this file, while it runs; a module has none.
script = document.currentScript if typeof(document) == 'object' else None
SDK_PATH = '/serviceCore/sdk/v1/batch'


def check_options(options):
    """What is wrong with the options, in a sentence, or None."""
    if not options or not options.apiKey or typeof(options.apiKey) != 'string':
        return 'apiKey is required: the public key of your organization'
    mode = options.consentMode
    if mode != None and mode != 'required' and mode != 'not_required':
        return "consentMode must be 'required' or 'not_required'"
    try:
        batch_url(options.baseUrl)
    except:
        return 'baseUrl must be an address'


def batch_url(base_url):
    """Where calls are sent: below `baseUrl`, else where the script came from, else the page's own origin."""
    base = base_url or (script and script.src and __new__(URL(script.src)).origin) or location.origin
    return __new__(URL((base + SDK_PATH).js_replace('/' + SDK_PATH, SDK_PATH), location.href)).href

"""The options of `init` (contract, "init options"), and the addresses that follow from them."""

__pragma__('skip')
from browser import __pragma__, Document, Reflect, RegExp, document, location, typeof

__pragma__('noskip')

IS_BROWSER = typeof(document) == 'object'
# The script tag that runs this file, while it runs; a module has none. An element of the page whose name is
# currentScript hides the document's own property, but not the one that documents inherit.
script_tag = IS_BROWSER and Reflect.js_get(Document.prototype, 'currentScript', document)
script_source = script_tag and script_tag.src
options = {}


def sdk_url(address):
    """The SDK's path at this address of the service or of a script, else on the page's own origin.

    Where the site gave the script a name, it is that name.
    """
    return (address or location.origin).js_replace(
        RegExp('((/waylink[^/?#]*)?\\.js|/?)([?#].*)?$'),
        lambda _, end: '' if end == '.js' else '/serviceCore/sdk/v1/batch',
    )


def batch_url():
    """Where calls go."""
    return sdk_url(options.baseUrl or script_source)


def sentences_url():
    """Where the sentences of `debug` are: beside the script, also where nobody answers at `baseUrl`."""
    return sdk_url(script_source or options.baseUrl).js_replace(
        RegExp('(/serviceCore.*)?$'), lambda _, path: '/waylink.json' if path else '.json'
    )

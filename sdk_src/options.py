"""What `init` was given (contract, "init options"), and the addresses that follow from it."""

__pragma__('skip')
from browser import __pragma__, Document, Reflect, RegExp, document, location, typeof

__pragma__('noskip')

IS_BROWSER = typeof(document) == 'object'
# The script tag that runs this file, while it runs; a module has none. An element of the page whose name is
# currentScript hides the document's own property, but not the one that documents inherit.
script = IS_BROWSER and Reflect.js_get(Document.prototype, 'currentScript', document)
source = script and script.src
options = {}


def script_url(source):
    """The address of the script: `source`, or where it would be below `baseUrl`, or below the page's origin."""
    return source or (options.baseUrl or location.origin).js_replace(RegExp('/?$'), '/waylink.js')


def batch_url():
    """Where calls go: to the SDK's path beside the script; where that has a name of the site's own, to that name."""
    return script_url(not options.baseUrl and source).js_replace(
        RegExp('(/waylink[^/?]*)?\\.js(\\?.*)?$'), lambda _, ours: '/serviceCore/sdk/v1/batch' if ours else ''
    )


def texts_url():
    """Where the sentences of `debug` are: beside the script, under its name with another ending."""
    return script_url(source).js_replace(RegExp('\\.js(\\?.*)?$'), '.json')

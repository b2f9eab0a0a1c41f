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


def script_url(address):
    """This address of the script; without one `baseUrl` where that is the script's, else where the script is below it.

    Without a `baseUrl`, it is below the page's origin.
    """
    return address or (options.baseUrl or location.origin + '/').js_replace(
        RegExp('^(?!.*\\.js$)(.*?)/?$'), lambda _, folder: folder + '/waylink.js'
    )


def batch_url():
    """Where calls go: to the SDK's path beside the script; where the site gave the script a name, to that name."""
    return script_url(not options.baseUrl and script_source).js_replace(
        RegExp('(/waylink[^/?]*)?\\.js(\\?.*)?$'),
        lambda _, waylinks_name: '/serviceCore/sdk/v1/batch' if waylinks_name else '',
    )


def sentences_url():
    """Where the sentences of `debug` are: beside the script, under its name with another ending."""
    return script_url(script_source).js_replace(RegExp('\\.js(\\?.*)?$'), '.json')

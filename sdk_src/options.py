"""The options of `init` (contract, "init options"), and the addresses that follow from them."""

from address import address
from page import script_tag

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')

# The script's address; False where nothing answers beside it, as with `blob:`, and where the script stands in the page.
script_source = RegExp('^http').test(script_tag and script_tag.src) and script_tag.src
options = {}


def batch_url():
    """Where calls go: below `baseUrl`, or beside the script, or on the page's own origin.

    Where the site gave the script a name, it is that name.
    """
    return (options.baseUrl or script_source or address.origin).js_replace(
        RegExp('((/waylink[^/?#]*)?\\.js|/?)([?#].*)?$'),
        lambda _, end: '' if end == '.js' else '/serviceCore/sdk/v1/batch',
    )

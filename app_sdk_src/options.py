"""The options of `init`, and the addresses that follow from them."""

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')

# `!` follows those that have to be given.
OPTIONS = 'apiKey! baseUrl! platform! domains appId consentMode eraseOnWithdrawal debug'
# What the JSON of a value looks like, indented by a space a level; that of any other option may be anything.
OPTION_PATTERNS = {
    'apiKey': RegExp('^"'),
    'baseUrl': RegExp('^"https?:'),
    'platform': RegExp('^"(ios|android)"$'),
    'domains': RegExp('^\\[\\n "'),
    'consentMode': RegExp('^"(not_)?required"$'),
}
# What stands for a part of the platform: an object or a function, which has no JSON.
ADAPTERS = ['storage', 'addresses', 'installReferrer', 'clipboard', 'fetch', 'crypto', 'onProblem']
options = {}


def service_url(path):
    """The address of the service's route with this path."""
    return options.baseUrl.js_replace(RegExp('/*$'), path)


def batch_url():
    """Where calls go."""
    return service_url('/serviceCore/sdk/v1/batch')

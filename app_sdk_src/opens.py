"""Opens of the app: at its start, and by each address that the system hands it."""

from attempts import attempt
from attribution import LAUNCHED_KEY, NativePromise, own_opens
from calls import submit
from clock import now
from ids import new_uuid
from options import options
from outbox import recover, stored_entries
from requests import OPEN
from stores import local, storage_key
from time_limit import within

__pragma__('skip')
from browser import __pragma__, Date, RegExp, __new__

__pragma__('noskip')

ADAPTER_TIMEOUT = 5000  # milliseconds
REPEAT_TIME = 2000  # milliseconds in which the system may hand out an address twice
SCHEME = 1  # what `match` returns
REST = 2
HOST = 3
latest_address = None
latest_at = 0


async def begin_opens():
    """Tell the open that the start of the app is, and those that follow; a promise of what became of the first."""
    address = None
    adapter = options.addresses
    if adapter:
        await attempt('addresses', lambda: adapter.listen(take_address))
        address = await attempt('addresses', lambda: within(ADAPTER_TIMEOUT, adapter.initial()))
    return await take_address(address)


async def take_address(address):
    """Tell an open by this address, if it is a link's, or the first launch; a promise of what became of it."""
    short_url = link_of(address)
    if short_url:
        if is_repeat(short_url):
            return None
        recover({})  # whoever taps a link has a network
    is_first_launch = not local.read(storage_key(LAUNCHED_KEY))
    if short_url or (is_first_launch and not stored_entries().some(is_open)):
        call = {'kind': OPEN, 'call_id': new_uuid(), 'occurred_at': now(), 'signals': {'short_url': short_url}}
        if is_first_launch:
            call.signals.install_referrer = await read_text('installReferrer')
            call.signals.clipboard_text = copied_text(await read_text('clipboard'))
        own_opens[call.call_id] = call.occurred_at
        return await __new__(NativePromise(lambda resolve: submit({'call': call, 'resolve': resolve})))


def is_open(entry):
    return entry.call.kind == OPEN


def link_of(address):
    """The short URL that an address is, or None: the host is one of `domains`. The app's own scheme becomes https.

    Addresses of other hosts are never sent. They can hold what is the app's alone, such as a password's renewal.
    """
    found = ('' + (address or '')).match(RegExp('^([a-z][\\w+.-]*)://(([^/?#:@]+)(:\\d+)?([/?#].*)?)$', 'i'))
    if found and (options.domains or []).some(lambda domain: domain.toLowerCase() == found[HOST].toLowerCase()):
        return ('http://' if found[SCHEME].toLowerCase() == 'http' else 'https://') + found[REST]
    return None


def is_repeat(short_url):
    """Whether the system has just handed out this address: some do at a start, by both of their ways."""
    global latest_address, latest_at
    is_known = short_url == latest_address and Date.now() - latest_at < REPEAT_TIME
    latest_address = short_url
    latest_at = Date.now()
    return is_known


async def read_text(adapter_name):
    """What the app's function of this name gives: what the Play Store passed on, or the clipboard's text."""
    read = options[adapter_name]
    return await attempt(adapter_name, lambda: within(ADAPTER_TIMEOUT, read())) if read else None


def copied_text(text):
    """The text, if the page before the App Store made it; None for any other, which is the person's own."""
    return text if link_of(text) and text.match(RegExp('#cl_clipboard=[\\w-]{22}\\s*$')) else None

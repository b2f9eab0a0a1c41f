"""Which addresses the service is asked about, and what it said of them (contract, SDK rules 2, 5 and 7)."""

from debug import say
from stores import parse_json, session, storage_key

__pragma__('skip')
from browser import __pragma__, JSON, Promise, __new__

__pragma__('noskip')

CHECK = 'attribution'  # the kind of a check, and the name under which its answer is kept
CHECKED_ADDRESSES = 'checked'
MAX_CHECKED_CHARACTERS = 15000
resolve_attempted = None  # resolves the promise `attempted`
NativePromise = Promise  # the browser's own: a page may put another one in its place later


def keep_resolver(resolve):
    global resolve_attempted
    resolve_attempted = resolve


# Resolves once the check of the page's address was answered or tried in vain, or once it is known that none comes.
attempted = __new__(NativePromise(keep_resolver))


def renew_attempted():
    """Resolve the promise `attempted`, and put a new one in its place for the next attempt."""
    global attempted
    resolve_attempted()  # type: ignore[misc]
    attempted = __new__(NativePromise(keep_resolver))


def is_due(check):
    """Note a check's address; whether it has signals and was not checked in this tab before."""
    # The addresses are lines of one text: on pages with old libraries, which give arrays a `toJSON`, JSON spoils lists.
    checked_addresses = session.read(storage_key(CHECKED_ADDRESSES))
    line = '\n' + check.page + '\n'
    if check.signals and not checked_addresses.includes(line):
        session.write(storage_key(CHECKED_ADDRESSES), (line + checked_addresses).slice(0, MAX_CHECKED_CHARACTERS))
        return True
    say('signals')


def read_context():
    """The attribution that the service found in this tab's session, as a new copy, or None."""
    return parse_json(session.read(storage_key(CHECK))) or None


def keep_result(result, is_of_visit):
    """Tell the console what the service refused of a call, and keep the attribution that it found for this visit."""
    for code in ['error', 'notes']:
        if result[code]:
            say(code, result, True)
    if is_of_visit and result.attribution:
        session.write(storage_key(CHECK), JSON.stringify(result.attribution))

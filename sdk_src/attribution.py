"""Which addresses are worth a check, and what the service said of them (contract, SDK rules 2, 5 and 7)."""

from debug import say
from stores import own, parse, session

__pragma__('skip')
from browser import __pragma__, JSON, Promise, __new__

__pragma__('noskip')

CHECK = 'attribution'  # the kind of a check, and the name under which its answer is kept
CHECKED = 'checked'
MOST_CHARACTERS = 15000
tell = None  # resolves `told`
Later = Promise  # kept from the start: a page may take it away


def expect(resolve):
    global tell
    tell = resolve


told = __new__(Later(expect))  # resolves once the first attempt is over, or none is to be made


def renew():
    """Tell who waits, and let others wait for the next attempt."""
    global told
    tell()  # type: ignore[misc]
    told = __new__(Later(expect))


def is_due(call):
    """Whether there is a reason to ask the service about the address of a check, for the first time in this tab."""
    # Lines of a text, not a list: pages with old libraries have an Array.prototype.toJSON that spoils lists.
    checked = session.read(own(CHECKED))
    line = '\n' + call.page + '\n'
    if call.signals and not checked.includes(line):
        session.write(own(CHECKED), (line + checked).slice(0, MOST_CHARACTERS))
        return True
    say('checked' if call.signals else 'signals')


def read_context():
    """What the service said of this tab session, a new copy each time, or None."""
    return parse(session.read(own(CHECK))) or None


def received(result):
    """Keep what the service said of a check, and pass on what it said against a call."""
    for name in ['error', 'notes']:
        if result[name]:
            say(name, result, True)
    if result.attribution:
        session.write(own(CHECK), JSON.stringify(result.attribution))

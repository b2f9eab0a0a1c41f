"""When to ask the service where the visitor came from, and what it said (contract, SDK rules 2, 5 and 7)."""

CONTEXT = 'cl_attribution'
CHECKED = 'cl_checked'
MOST_CHARACTERS = 9000


def is_unchecked(session, address):
    """Whether it is the first time in this tab session that it is asked about this address."""
    # Lines of a text, not a list: pages with old libraries have an Array.prototype.toJSON that spoils lists.
    checked = session.read(CHECKED) or ''
    line = '\n' + address + '\n'
    if checked.includes(line):
        return False
    session.write(CHECKED, (line + checked).substring(0, MOST_CHARACTERS))
    return True


def remember(session, context):
    """Keep what the service said of this tab session; nothing where it said nothing."""
    if context:
        session.write(CONTEXT, context)


def read_context(session):
    """What the service said of this tab session, or None."""
    return session.read(CONTEXT)

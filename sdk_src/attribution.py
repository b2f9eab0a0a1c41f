"""When to ask the service where the visitor came from, and what it said (contract, SDK rules 2, 5 and 7)."""

CONTEXT = 'cl_attribution'
CHECKED = 'cl_checked'
MOST_CHARACTERS = 9000


def create_attribution(session):
    """Attribution of this tab session.

    `is_unchecked(address)` is true the first time that it is asked about an address. `remember(context)` keeps what
    the service said; `context()` gives it back, or None.
    """

    def is_unchecked(address):
        # Lines of a text, not a list: pages with old libraries have an Array.prototype.toJSON that spoils lists.
        checked = session.read(CHECKED) or ''
        line = '\n' + address + '\n'
        if checked.includes(line):
            return False
        session.write(CHECKED, (line + checked).substring(0, MOST_CHARACTERS))
        return True

    return {
        'is_unchecked': is_unchecked,
        'remember': lambda context: context and session.write(CONTEXT, context),
        'context': lambda: session.read(CONTEXT),
    }

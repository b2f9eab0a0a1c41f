"""When to ask the service where the visitor came from, and what it said (contract, SDK rules 2, 5 and 7)."""

from signals import read_signals

__pragma__('skip')
location = None
__pragma__('noskip')

CONTEXT = 'cl_attribution'
CHECKED = 'cl_checked'
MOST_CHECKED = 20


def create_attribution(session, say):
    """Attribution of this tab session.

    `signals_to_check(is_new)` gives the signals of the address if there is a reason to ask the service, else None.
    `remember(context)` keeps what it answered; `context()` gives it back; `forget()` drops it.
    """

    def signals_to_check(is_new):
        signals = read_signals(location.search)
        checked = session.read(CHECKED) or []
        if not (signals or is_new):
            say('No attribution signal in the address, and this device is known: nothing is sent.')
        elif checked.includes(location.href):
            say('This address was checked before in this tab: nothing is sent.')
        else:
            checked.push(location.href)
            session.write(CHECKED, checked.slice(-MOST_CHECKED))
            return signals or {}
        return None

    def remember(context):
        if context:
            session.write(CONTEXT, context)

    def context():
        return session.read(CONTEXT)

    def forget():
        session.remove(CONTEXT)
        session.remove(CHECKED)

    return {'signals_to_check': signals_to_check, 'remember': remember, 'context': context, 'forget': forget}

"""What the visitor allows, as the site says (contract, SDK rule 6); and whether the SDK works on this page at all."""

from options import options

decision = None  # until the site says something
is_off = False


def decide(allowed):
    """The visitor agrees, or refuses."""
    global decision
    decision = allowed


def switch_off():
    """Do nothing on this page, whatever is allowed."""
    global is_off
    is_off = True


def has_consent():
    """Whether something may be stored and sent."""
    return decision if decision != None else not not options.apiKey and options.consentMode != 'required'


def is_refused():
    """Whether a call has nothing to wait for."""
    return is_off or decision == False

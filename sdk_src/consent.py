"""What the visitor allows: what the site said last, or what the options of `init` say until then."""

from calls import is_open, turn
from options import options

decision = None  # of the visitor, until the site says something


def has_consent():
    """Whether something may be stored and sent."""
    return decision if decision != None else not not options.apiKey and options.consentMode != 'required'


def decide(to):
    """From now on calls are sent as soon as they may be, or none is kept."""
    global decision
    decision = to
    turn(to and (is_open or None))

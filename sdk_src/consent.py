"""What the visitor allows: what the site said last, or what the options of `init` say until then."""

from options import options

decision = None  # of the visitor, until the site says something; 1 or 0 where another tab was told


def has_consent():
    """Whether something may be stored and sent."""
    return not not (decision if decision != None else options.apiKey and options.consentMode != 'required')


def decide(to):
    """Remember what the site said."""
    global decision
    decision = to

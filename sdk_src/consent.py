"""The visitor's consent: what the site said last, or what the options of `init` say until then."""

from options import options

# A decision is True or False where the site told this page. Where the site told another tab, it is one of these two
# numbers, which are equal to True and False, but not the same (`is`).
GRANTED_IN_OTHER_TAB = 1
DENIED_IN_OTHER_TAB = 0
decision = None  # the visitor's, until the site says something


def has_consent():
    """Whether something may be stored and sent."""
    return not not (decision if decision != None else options.apiKey and options.consentMode != 'required')


def record_decision(told):
    """Remember what the site said."""
    global decision
    decision = told

"""What is wrong with the arguments of a call, in a sentence that names the field, or None."""

__pragma__('skip')
Number = typeof = None
__pragma__('noskip')

IDENTITY_TEXTS = ['customer_id', 'email', 'phone', 'name', 'email_sha256', 'phone_sha256']
LEAD_TEXTS = ['customer_id', 'email', 'name', 'event_id', 'client_timestamp']
CONVERSION_TEXTS = ['currency', 'transaction_id', 'customer_id', 'product_id']


def check_identity(fields):
    """identify: customer_id is required."""
    if not fields or not fields.customer_id:
        return 'identify: customer_id is required'
    return check_texts('identify', fields, IDENTITY_TEXTS)


def check_lead(fields):
    """trackLead: every field is optional."""
    return check_texts('trackLead', fields, LEAD_TEXTS)


def check_conversion(fields):
    """trackConversion: revenue in major units and an ISO 4217 currency are required."""
    if not fields or not Number.isFinite(fields.revenue) or fields.revenue < 0:
        return 'trackConversion: revenue must be a number of 0 or more, in major units'
    if typeof(fields.currency) != 'string' or fields.currency.length != 3:
        return 'trackConversion: currency must be an ISO 4217 code such as EUR'
    return check_texts('trackConversion', fields, CONVERSION_TEXTS)


def check_event(event_name, fields):
    """trackEvent: the name is required."""
    if typeof(event_name) != 'string' or not event_name:
        return 'trackEvent: the event name must be a text'
    return check_texts('trackEvent', fields, ['product_id'])


def check_texts(call, fields, names):
    """The first of these fields that is given and is not a text."""
    for name in names:
        if fields and fields[name] != None and typeof(fields[name]) != 'string':
            return call + ': ' + name + ' must be a text'
    return None

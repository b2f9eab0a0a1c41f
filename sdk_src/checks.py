"""What is wrong with the arguments of a call, in a sentence that names the field, or None."""

__pragma__('skip')
from browser import __pragma__, JSON, Number, typeof

__pragma__('noskip')

TEXTS = [
    'customer_id',
    'email',
    'phone',
    'name',
    'email_sha256',
    'phone_sha256',
    'event_id',
    'client_timestamp',
    'currency',
    'transaction_id',
    'product_id',
]
PLAIN = 'fields must be plain data'


def check_identity(fields):
    """identify: customer_id is required."""
    return check_fields(fields) or (None if fields and fields.customer_id else 'customer_id is required')


def check_conversion(fields):
    """trackConversion: revenue in major units and an ISO 4217 currency are required."""
    if not fields or not Number.isFinite(fields.revenue) or fields.revenue < 0:
        return 'revenue must be a number >= 0'
    if (fields.currency or '').length != 3:
        return 'currency must be an ISO 4217 code'
    return check_fields(fields)


def check_event(name, fields):
    """trackEvent: the name is required."""
    return check_fields(fields) or (None if name else 'name is required') or check_fields({'name': name})


def check_fields(fields):
    """What is not an object, not a text where only a text can be, or can't be sent as JSON; None given is fine."""
    if fields != None and typeof(fields) != 'object':
        return PLAIN
    for name in TEXTS:
        if fields and fields[name] != None and typeof(fields[name]) != 'string':
            return name + ' must be a string'
    try:
        JSON.stringify(fields)
    except:
        return PLAIN

"""What the fields of a call may be. `make sdk` writes this file from the service's own rules."""

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')

MOST_BYTES = 4096  # of metadata, as JSON in UTF-8
TEXT = RegExp('^[\\s\\p{Cc}]*([^\\s\\p{Cc}][^]{0,255}?)?[\\s\\p{Cc}]*$', 'u')
# The fields of each kind; `!` follows those that have to be given.
FIELDS = {
    'identify': 'customer_id! phone email_sha256 email name phone_sha256',
    'conversion': 'customer_id product_id currency! transaction_id revenue!',
    'lead': 'customer_id event_id email_sha256 email name client_timestamp',
    'event': 'customer_id product_id name! metadata',
}
# What a value looks like as JSON; any other is a text.
FORMS = {
    'metadata': RegExp('^{(?![^]*\\n {8})'),
    'text': RegExp('^"'),
    'email_sha256': RegExp('^"[\\da-f]{64}"$', 'i'),
    'currency': RegExp('^"[A-Za-z]{3}"$'),
    'client_timestamp': RegExp('^"\\d{4}-(0\\d|1[0-2])-[0-3]\\d'),
    'phone_sha256': RegExp('^"[\\da-f]{64}"$', 'i'),
    'revenue': RegExp('^(10{12}|\\d{1,12}(\\D[^+]*)?)$'),
}

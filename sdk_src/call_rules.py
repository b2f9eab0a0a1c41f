"""What the fields of a call may be. `make sdk` writes this file from the service's own rules."""

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')

MAX_JSON_BYTES = 4096  # of metadata, as JSON in UTF-8
TRIMMED_TEXT = RegExp('^[\\s\\p{Cc}]*([^\\s\\p{Cc}][^]{0,255}?)?[\\s\\p{Cc}]*$', 'u')
# The fields of each kind; `!` follows those that have to be given.
FIELDS = {
    'identify': 'customer_id! email_sha256 email name phone_sha256 phone',
    'lead': 'customer_id email_sha256 email client_timestamp event_id name',
    'event': 'customer_id product_id metadata name!',
    'conversion': 'customer_id product_id transaction_id revenue! currency!',
}
# What a value looks like as JSON; any other field is an id.
PATTERNS = {
    'name': RegExp('^"'),
    'email': RegExp('^"'),
    'phone': RegExp('^"'),
    'email_sha256': RegExp('^"[\\da-f]{64}"$', 'i'),
    'currency': RegExp('^"[a-z]{3}"$', 'i'),
    'phone_sha256': RegExp('^"[\\da-f]{64}"$', 'i'),
    'client_timestamp': RegExp('^"\\d{4}-[01]\\d-[0-3]\\d'),
    'revenue': RegExp('^"?(10{12}|\\d{1,12}(\\.\\d+)?)(e-\\d+|"?)$'),
    'metadata': RegExp('^{(?![^]*\\n {8})'),
    'id': RegExp('^("|-?\\d+$)'),
}

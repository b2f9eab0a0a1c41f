"""Writes sdk_src/call_rules.py: the service's rules for calls (backend/domain/visitors/calls), for the
SDK."""

from __future__ import annotations

from typing import Any

from backend.domain.fields import money
from backend.domain.fields.rules import Rule
from backend.domain.visitors.call_fields import (
    CLEAR_CONTACTS,
    Amount,
    CallText,
    CallTime,
    CurrencyCode,
    FilledId,
    FilledIdOrNone,
    IdText,
    Sha256,
)
from backend.domain.visitors.call_metadata import Metadata
from backend.domain.visitors.calls import FIELDS, ID_LENGTH, REQUIRED, Kind

# Kinds and names in the order that compresses best, found by trying.
_KINDS = (Kind.IDENTIFY, Kind.LEAD, Kind.EVENT, Kind.CONVERSION)
_NAMES = """
customer_id email_sha256 product_id email metadata transaction_id client_timestamp event_id name revenue
currency phone_sha256 phone
""".split()
_NAMES_OF_PATTERNS = """
name email phone email_sha256 currency phone_sha256 client_timestamp revenue metadata id
""".split()
_AMOUNT_DIGITS = len(str(money.LARGEST)) - 1
# A JavaScript pattern for each kind of rule. It matches the JSON of a valid value, indented by one space.
_PATTERNS: dict[type[Any], tuple[str, ...]] = {
    CallText: ('^"',),
    **dict.fromkeys((IdText, FilledId, FilledIdOrNone), (r'^("|-?\d+$)',)),
    Amount: (rf'^"?(10{{{_AMOUNT_DIGITS}}}|\d{{1,{_AMOUNT_DIGITS}}}(\.\d+)?)(e-\d+|"?)$',),
    CurrencyCode: ('^"[a-z]{3}"$', "i"),
    Sha256: (f'^"{Sha256.PATTERN}"$', "i"),
    CallTime: (f'^"{CallTime.PATTERN}',),
    Metadata: (rf"^{{(?![^]*\n {{{Metadata.MOST_LEVELS}}})",),
}
# Matches a text. The first group is the text without blanks around it, and does not match where all is blank.
_TEXT = (rf"^[\s\p{{Cc}}]*([^\s\p{{Cc}}][^]{{0,{ID_LENGTH - 1}}}?)?[\s\p{{Cc}}]*$", "u")
_MODULE = '''\
"""What the fields of a call may be. `make sdk` writes this file from the service's own rules."""

__pragma__('skip')
from browser import __pragma__, RegExp

__pragma__('noskip')

MAX_JSON_BYTES = {most_bytes}  # of metadata, as JSON in UTF-8
TRIMMED_TEXT = {text}
# The fields of each kind; `!` follows those that have to be given.
FIELDS = {{
{fields}}}
# What a value looks like as JSON; any other field is an id.
PATTERNS = {{
{patterns}}}
'''


def call_rules() -> str:
    """The module's text. Raises KeyError or ValueError for a field or rule that is not known here."""
    return _MODULE.format(
        most_bytes=Metadata.MOST_BYTES,
        text=_written(*_TEXT),
        fields="".join(f"    '{kind}': '{_fields(kind)}',\n" for kind in _KINDS),
        patterns="".join(f"    '{name}': {_written(*pattern)},\n" for name, pattern in _patterns().items()),
    )


def _fields(kind: Kind) -> str:
    names = sorted(_rules(kind), key=_NAMES.index)
    return " ".join(f"{name}!" if name in REQUIRED[kind] else name for name in names)


def _rules(kind: Kind) -> dict[str, Rule[Any]]:
    """The rules of the fields that the SDK takes for a kind: also contacts in clear, which it hashes."""
    rules = FIELDS[kind]
    hashed = [name for name in CLEAR_CONTACTS if f"{name}_sha256" in rules]
    return rules | dict.fromkeys(hashed, CallText(ID_LENGTH))


def _patterns() -> dict[str, tuple[str, ...]]:
    by_name = {name: _PATTERNS[type(rule)] for kind in _KINDS for name, rule in _rules(kind).items()}
    of_id = _PATTERNS[IdText]
    patterns = {name: pattern for name, pattern in by_name.items() if pattern != of_id} | {"id": of_id}
    return {name: patterns[name] for name in sorted(patterns, key=_NAMES_OF_PATTERNS.index)}


def _written(source: str, flags: str = "") -> str:
    escaped = source.replace("\\", "\\\\")
    return f"RegExp('{escaped}', '{flags}')" if flags else f"RegExp('{escaped}')"

"""Web addresses as people paste them, made into addresses as browsers ask for them."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from backend.domain.errors import InvalidField

# What a browser percent-encodes, or servers take it for when it is written so (URL Standard).
_ENCODED = str.maketrans({character: quote(character) for character in ' "<>`^|'})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?![0-9]+(?:[/?#]|$))")
_WEB = re.compile(r"https?:", re.IGNORECASE)
# A host with a dot, as people leave its scheme out: no e-mail address and no path.
_BARE_HOST = re.compile(r"(?:[^\s./:?#@\\]+\.)+[^\s./:?#@\\\d][^\s./:?#@\\]*(?::[0-9]+)?(?:[/?#]|$)")
_APP = "an app opens by ios_behavior and android_behavior 2"
_INSTEAD = {
    "mailto": "lead to a page that has the e-mail address",
    "tel": "lead to a page that has the number",
    "sms": "lead to a page that has the number",
}
# Unicode's categories of characters of no width, and of blanks.
_UNSEEN = frozenset({"Cf", "Zs", "Zl", "Zp"})
# Nobody needs to be told why a link does not lead there.
_OF_PROGRAMS = frozenset({"javascript", "vbscript", "data", "file", "ftp", "blob", "about", "ws", "wss"})


def pasted_address(field: str, text: str) -> str:
    """The address without blanks around it, with a scheme, and with raw blanks and quotes percent-encoded.

    Anything else stays as it is written, also letters of other scripts, which redirects encode. Raises
    InvalidField for another scheme, with the reason, and for characters that nobody sees, by their names.
    """
    if text.isascii() and text.isprintable() and _WEB.match(text) and not text.endswith(" "):
        return text.translate(_ENCODED)  # nearly always, and quick to find out
    address = text.strip()
    _refuse_unseen(field, address)
    if address.startswith("//"):
        address = f"https:{address}"
    elif _BARE_HOST.match(address):
        address = f"https://{address}"
    elif scheme := _SCHEME.match(address):
        _refuse_scheme(field, scheme[0][:-1])
    return address.translate(_ENCODED)


def _refuse_scheme(field: str, scheme: str) -> None:
    name = scheme.lower()
    if name in {"http", "https"} or name in _OF_PROGRAMS:
        return  # what else is wrong the caller says
    instead = _INSTEAD.get(name, _APP)
    raise InvalidField(field, f"must be an absolute http or https URL, not {scheme[:30]}: ({instead})")


def _refuse_unseen(field: str, address: str) -> None:
    """Raise InvalidField for the first character that has no width, or that is another blank than a space."""
    for character in address:
        if unicodedata.category(character) in _UNSEEN and character != " ":
            name = unicodedata.name(character)
            raise InvalidField(
                field,
                f"must not contain U+{ord(character):04X} ({name}), which nobody sees: "
                f"take it out, or write {quote(character)}",
            )

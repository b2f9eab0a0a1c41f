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
_NEARLY_WEB = re.compile(r"h*t+p+s*[:;]?/+", re.IGNORECASE)  # htp://, https//, ttps://
# A host with a dot, as people leave its scheme out: no e-mail address and no path.
_BARE_HOST = re.compile(r"(?:[^\s./:?#@\\]+\.)+[^\s./:?#@\\\d][^\s./:?#@\\]*(?::[0-9]+)?(?:[/?#]|$)")
_HTTP_PORT = re.compile(r"[^/?#]+:80(?:[/?#]|$)")
# Each label without a dot, so that no text is read more than once, however long.
_MAIL = re.compile(r"[^\s@/:?#]+@(?:[^\s@/:?#.]+\.)+[^\s@/:?#.]+")
# What stands around an address in a text (RFC 3986, appendix C), with what ends it.
_AROUND = {
    "<": ">",
    '"': '"',
    "'": "'",
    "\u201c": "\u201d",
    "\u201e": "\u201c",
    "\u00ab": "\u00bb",
    "\u2018": "\u2019",
}
_APP = "an app opens by ios_behavior and android_behavior 2"
_MAIL_PAGE, _NUMBER_PAGE = "lead to a page that has the e-mail address", "lead to a page that has the number"
_INSTEAD = {
    "mailto": _MAIL_PAGE,
    **dict.fromkeys(("tel", "callto", "facetime", "sms", "smsto", "mms"), _NUMBER_PAGE),
}
# Unicode's categories of characters of no width, and of blanks.
_UNSEEN = frozenset({"Cf", "Zs", "Zl", "Zp"})
_CONTROLS = {"\n": "a line end", "\r": "a line end", "\t": "a tab"}
# Nobody needs to be told why a link does not lead there.
_OF_PROGRAMS = frozenset({"javascript", "vbscript", "data", "file", "ftp", "blob", "about", "ws", "wss"})


def pasted_address(field: str, text: str) -> str:
    """The address without blanks and quotes around it, with a scheme, and with raw blanks and quotes in it
    percent-encoded.

    Anything else stays as it is written, also letters of other scripts, which redirects encode. Raises
    InvalidField for another scheme, with the reason, and for characters that nobody sees, by their names.
    """
    if text.isascii() and text.isprintable() and _WEB.match(text) and not text.endswith(" "):
        return text.translate(_ENCODED)  # nearly always, and quick to find out
    address = _without_quotes(text.strip())
    _refuse_unseen(field, address)
    if address.startswith("//"):
        address = f"https:{address}"
    elif _BARE_HOST.match(address):
        address = f"{'http' if _HTTP_PORT.match(address) else 'https'}://{address}"
    else:
        _refuse_other(field, address)
    return address.translate(_ENCODED)


def _without_quotes(text: str) -> str:
    if len(text) > 1 and text[-1] == _AROUND.get(text[0]):
        return text[1:-1].strip()
    return text


def _refuse_other(field: str, address: str) -> None:
    """Raise InvalidField for what is no web address, with the reason where there is one."""
    name = address.partition(":")[0].lower()
    if name in {"http", "https"} or name in _OF_PROGRAMS:
        return  # what else is wrong the caller says
    if _NEARLY_WEB.match(address):
        raise InvalidField(field, "must be an absolute http or https URL: it must begin with https://")
    if _MAIL.fullmatch(address):
        raise InvalidField(
            field, f"must be an absolute http or https URL, not an e-mail address ({_MAIL_PAGE})"
        )
    scheme = _SCHEME.match(address)
    if name in _INSTEAD or (scheme and len(name) > 1):  # one letter is a drive
        written, instead = address[: len(name)], _INSTEAD.get(name, _APP)
        raise InvalidField(field, f"must be an absolute http or https URL, not {written[:30]}: ({instead})")


def _refuse_unseen(field: str, address: str) -> None:
    """Raise InvalidField for the first character that has no width, or that is another blank than a space."""
    for character in address:
        kind = unicodedata.category(character)
        if kind == "Cc":
            name = _CONTROLS.get(character, "a control character")
            rule = f"must be an absolute http or https URL, without {name} (U+{ord(character):04X})"
            raise InvalidField(field, f"{rule}: take it out")
        if kind in _UNSEEN and character != " ":
            name = unicodedata.name(character)
            raise InvalidField(
                field,
                f"must not contain U+{ord(character):04X} ({name}), which nobody sees: "
                f"take it out, or write {quote(character)}",
            )

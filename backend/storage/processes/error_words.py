"""What is stored and shown of an error: its class, and a text without anybody's data or secrets."""

from __future__ import annotations

import re

from pymongo.errors import OperationFailure

from backend.domain.fields.rules import CONTROL

_LONGEST = 200
_OWN = __name__.partition(".")[0] + "."
# Of a document, a row or the code: not what somebody wrote.
_NAME_OF_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")
# Also in an address of a server, behind the name and password of a user.
_ADDRESS = re.compile(r"\S+@\S+")
# Their texts name types and attributes, and never values.
_WITHOUT_VALUES = (TypeError, AttributeError, NotImplementedError)


def error_words(error: BaseException) -> str:
    """The error's class; and its text, where that is ours or has no values in it.

    A text of others may have a value of a document, such as a visitor's, or an address with its password.
    """
    text = _ADDRESS.sub("…", CONTROL.sub(" ", _text_of(error))).strip()[:_LONGEST]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text_of(error: BaseException) -> str:
    if isinstance(error, KeyError):
        name = str(error.args[0]) if error.args else ""
        return name if _NAME_OF_FIELD.fullmatch(name) else ""
    if isinstance(error, OperationFailure):
        return str((error.details or {}).get("codeName", error.code or ""))
    if isinstance(error, _WITHOUT_VALUES) or type(error).__module__.startswith(_OWN):
        return str(error)
    return ""

"""Documents as text, in MongoDB's canonical Extended JSON: every value keeps its type."""

from __future__ import annotations

from datetime import UTC

from bson import json_util
from bson.json_util import JSONMode, JSONOptions

from backend.storage.driver.mongo import Document

_OPTIONS = JSONOptions(json_mode=JSONMode.CANONICAL, tz_aware=True, tzinfo=UTC)


def to_json(document: Document) -> str:
    """The document as one line of text. Dates, decimals, 64-bit numbers and binary data keep their types."""
    return json_util.dumps(document, json_options=_OPTIONS, separators=(",", ":"), ensure_ascii=False)


def from_json(text: str) -> Document:
    """The document in a text that `to_json` returned. Raises ValueError if it is not valid."""
    try:
        document = json_util.loads(text, json_options=_OPTIONS)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"is not Extended JSON ({type(error).__name__})") from None
    if not isinstance(document, dict):
        raise ValueError("is not a document")
    return document

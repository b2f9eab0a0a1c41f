"""How QR codes look: their colours, a text below a code, and the sheets on which they are printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from backend.domain.errors import InvalidField
from backend.domain.fields.contrast import LEAST_CONTRAST, contrast, luminance
from backend.domain.fields.rules import Rule, Schema, Text, parse_string

LONGEST_TEXT = 40
MOST_LABELS = 500
_HEX = re.compile(r"#?([0-9A-Fa-f]{6})")


class QrColor:
    """A colour as six hexadecimal digits, with or without # before them."""

    def parse(self, field: str, value: object) -> str:
        """The colour in lower case, with #. Raises InvalidField."""
        digits = _HEX.fullmatch(parse_string(field, value))
        if digits is None:
            raise InvalidField(field, "must be a colour of six hexadecimal digits, such as 1f5fbf")
        return f"#{digits[1].lower()}"

    def schema(self) -> Schema:
        """JSON Schema of the digits."""
        return {"type": "string", "pattern": "^#?[0-9A-Fa-f]{6}$", "example": "1f5fbf"}


class QrFormat(StrEnum):
    """The files in which a code can be had."""

    SVG = "svg"
    PNG = "png"
    PDF = "pdf"


class SheetLayout(StrEnum):
    """The sheets of labels that there are, by the paper and the number of labels on it."""

    A4_8 = "a4-8"
    A4_21 = "a4-21"
    A4_24 = "a4-24"
    LETTER_30 = "letter-30"


@dataclass(frozen=True, slots=True)
class Label:
    """A link as its label shows it."""

    name: str
    short_url: str


@dataclass(frozen=True, slots=True)
class QrStyle:
    """The colours of a code's dark and light parts, and the text in its frame; "" for a code without one."""

    color: str = "#000000"
    background: str = "#ffffff"
    text: str = ""


STYLE_FIELDS: Mapping[str, Rule[Any]] = {
    "color": QrColor(),
    "background": QrColor(),
    "text": Text(LONGEST_TEXT, shown=True),
}


def style_of(fields: Mapping[str, Any]) -> QrStyle:
    """The style with those of these parsed fields that are set.

    Raises InvalidField if cameras could not tell the colours apart.
    """
    style = QrStyle(**{name: fields[name] for name in STYLE_FIELDS if fields.get(name)})
    if luminance(style.color) >= luminance(style.background):
        raise InvalidField("color", "must be darker than the background, or cameras don't find the code")
    ratio = contrast(style.color, style.background)
    if ratio < LEAST_CONTRAST:
        rule = f"must have a contrast of at least {LEAST_CONTRAST} to the background, and has {ratio:.1f}"
        raise InvalidField("color", rule)
    return style

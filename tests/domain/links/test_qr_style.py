"""Colours of QR codes: what cameras can't tell apart is refused."""

from __future__ import annotations

import pytest

from backend.domain.errors import InvalidField
from backend.domain.links.qr_style import STYLE_FIELDS, QrStyle, style_of


@pytest.mark.parametrize("text", ["1F5fbf", "#1f5fbf"])
def test_a_colour(text: str) -> None:
    """Six hexadecimal digits, in one form."""
    assert STYLE_FIELDS["color"].parse("color", text) == "#1f5fbf"


@pytest.mark.parametrize("text", ["", "red", "#fff", "#1f5fbf00", "#1f5fbg", 7, None])
def test_what_is_no_colour(text: object) -> None:
    """The error names the field."""
    with pytest.raises(InvalidField, match="background must be"):
        STYLE_FIELDS["background"].parse("background", text)


@pytest.mark.parametrize(
    ("color", "background", "reason"),
    [
        ("#000000", "#ffffff", None),
        ("#1f5fbf", "#fff7e0", None),
        ("#ffffff", "#000000", "darker"),
        ("#777777", "#777777", "darker"),
        ("#ffff00", "#ffffff", "contrast of at least 4.5 to the background, and has 1.1"),
        ("#ff0000", "#ffffff", "contrast of at least 4.5 to the background, and has 4.0"),
    ],
)
def test_contrast(color: str, background: str, reason: str | None) -> None:
    """A dark code on a light ground, with enough contrast."""
    if reason is None:
        assert style_of({"color": color, "background": background}) == QrStyle(color, background)
    else:
        with pytest.raises(InvalidField, match=f"color must .*{reason}"):
            style_of({"color": color, "background": background})

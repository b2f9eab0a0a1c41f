"""Colors of pages that an organization chose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.domains.colors import (
    DARK_GROUND,
    LEAST_CONTRAST,
    LIGHT_GROUND,
    contrast,
    page_style,
    readable,
)

COLORS = st.integers(0, 0xFFFFFF).map("#{:06x}".format)


def test_contrast_is_that_of_wcag() -> None:
    """Black on white has 21, a color on itself 1, and the standard's well-known gray just 4.5."""
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert contrast("#1f5fbf", "#1f5fbf") == 1
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54


@given(COLORS, COLORS | st.none())
def test_all_text_can_be_read(color: str, background: str | None) -> None:
    """Whatever colors are chosen: text, soft text, links and the texts of buttons."""
    style = page_style(color, background)
    for colors, ground in (
        (style.light, background or LIGHT_GROUND),
        (style.dark, background or DARK_GROUND),
    ):
        assert colors["button"] == color
        assert contrast(colors["on-accent"], color) >= LEAST_CONTRAST
        for name in {"text", "soft", "accent"} & colors.keys():
            assert contrast(colors[name], ground) >= LEAST_CONTRAST, name


def test_a_readable_color_stays_as_it_is() -> None:
    """Only what can't be read is moved."""
    assert readable("#1f5fbf", LIGHT_GROUND) == "#1f5fbf"
    assert readable("#ffe600", LIGHT_GROUND) != "#ffe600"
    assert page_style(None, "#10233f").scheme == "dark"

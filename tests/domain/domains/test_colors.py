"""Colours of pages that an organization chose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.domains.colors import DARK_GROUND, LIGHT_GROUND, page_style, readable
from backend.domain.fields.contrast import LEAST_CONTRAST, contrast

COLORS = st.integers(0, 0xFFFFFF).map("#{:06x}".format)


@given(COLORS, COLORS | st.none())
def test_all_text_can_be_read(color: str, background: str | None) -> None:
    """Whatever colours are chosen: text, soft text, links and the texts of buttons."""
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

"""The contrast of two colours."""

from __future__ import annotations

from backend.domain.fields.contrast import contrast


def test_contrast_is_that_of_wcag() -> None:
    """Black on white has 21, a colour on itself 1, and the standard's well-known gray just 4.5."""
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert contrast("#1f5fbf", "#1f5fbf") == 1
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54

"""How well two colours can be told apart, as WCAG 2 measures it. A colour is written `#rrggbb`."""

from __future__ import annotations

LEAST_CONTRAST = 4.5  # of text to its ground (1.4.3); cameras in poor light need as much


def contrast(one: str, other: str) -> float:
    """The ratio of two colours' contrast, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    """The relative luminance of a colour, from 0 to 1."""
    red, green, blue = (_linear(channel / 255) for channel in channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def channels(color: str) -> tuple[int, int, int]:
    """Red, green and blue, each from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _linear(share: float) -> float:
    return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

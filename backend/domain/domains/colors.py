"""The colours of pages, made of one or two that an organization chose, so that all text can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from backend.domain.fields.contrast import LEAST_CONTRAST, channels, contrast

_BLACK, _WHITE = "#000000", "#ffffff"
# The grounds of pages without a chosen one, as the template layout.html has them.
LIGHT_GROUND, DARK_GROUND = "#f6f5f2", "#17191d"
_STEPS = 50  # in which a colour is moved towards black or white


@dataclass(frozen=True, slots=True)
class PageStyle:
    """The colours of a page by the names of its CSS variables, on light and on dark screens.

    `scheme` is the value of the page's color-scheme.
    """

    light: Mapping[str, str]
    dark: Mapping[str, str]
    scheme: str = "light dark"


DEFAULT_STYLE = PageStyle({}, {})


@lru_cache(maxsize=1_000)
def page_style(color: str | None, background: str | None) -> PageStyle:
    """The colours of pages with this colour of buttons and links, on this ground (`#rrggbb`).

    A button has the colour as it is, and its text is black or white. Links have it as far as it can be read
    on the ground, else a darker or lighter one. With a `background`, pages look the same on all screens.
    """
    if background is None:
        return PageStyle(_accents(color, LIGHT_GROUND), _accents(color, DARK_GROUND))
    text = readable_text(background)
    ground = {
        "ground": background,
        "text": text,
        "soft": readable(mixed(text, background, 0.3), background),
        "line": mixed(text, background, 0.75),
    }
    colors = ground | _accents(color or text, background)
    return PageStyle(colors, colors, "dark" if text == _WHITE else "light")


def readable_text(ground: str) -> str:
    """Black or white: whichever is read better on this ground. Its ratio is always above 4.5."""
    return max((_BLACK, _WHITE), key=lambda color: contrast(color, ground))


def readable(color: str, ground: str) -> str:
    """The colour, or the nearest one on its way to black or white that can be read on this ground."""
    end = readable_text(ground)
    moved = (mixed(color, end, step / _STEPS) for step in range(_STEPS + 1))
    return next(found for found in moved if contrast(found, ground) >= LEAST_CONTRAST)


def mixed(one: str, other: str, share: float) -> str:
    """A colour between two; `share` is the other's part, from 0 to 1."""
    pairs = zip(channels(one), channels(other), strict=True)
    return "#" + "".join(f"{round(first + (second - first) * share):02x}" for first, second in pairs)


def _accents(color: str | None, ground: str) -> dict[str, str]:
    if color is None:
        return {}
    return {"accent": readable(color, ground), "button": color, "on-accent": readable_text(color)}

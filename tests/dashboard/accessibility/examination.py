"""What is wrong with a page that a browser shows: by axe's rules, and by where things stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Page, ViewportSize

from backend.dashboard.frame.form import FORM_TOKEN

SIZES: dict[str, ViewportSize] = {
    "wide": {"width": 1920, "height": 1080},
    "desktop": {"width": 1280, "height": 800},
    "tablet": {"width": 768, "height": 1024},
    "phone": {"width": 390, "height": 844},
}


@dataclass(frozen=True, slots=True)
class View:
    """A kind of screen in light or dark, and the element in which axe's rules are run there, if they are.

    Where things stand is looked at in every view.
    """

    size: str
    scheme: Literal["light", "dark"]
    ruled: str | None = None


# Rules of colour see the same on every screen, and all others the same in light and dark: so two views show
# them everything. They take most of the time.
VIEWS = (
    View("desktop", "light", ruled="html"),
    View("tablet", "light"),
    View("phone", "dark", ruled="html"),
)
# Of pages with nothing to show. What they have, pages with much have too, and around it all is the same.
VIEWS_OF_EMPTY = (View("desktop", "light", ruled="main"), View("phone", "light"))
# Of what fills a wide screen.
WIDE = (View("wide", "light"),)
# The violations of axe's rules, by how much the page has to be scrolled sideways, and the headings of cards
# without space between themselves and the card before; once what follows the size of the screen has done so.
EXAMINE = """async ruled => {
    await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
    const options = {resultTypes: ["violations"], preload: false};
    const {violations} = ruled ? await axe.run(ruled, options) : {violations: []};
    const {scrollWidth, clientWidth} = document.documentElement;
    const touching = [...document.querySelectorAll(".card")].filter((card, place, all) => {
        const before = all[place - 1]?.getBoundingClientRect(), own = card.getBoundingClientRect();
        return before && own.top > before.top && own.top < before.bottom + 8;
    });
    return [
        ...violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`)),
        ...(scrollWidth === clientWidth ? [] : [`${scrollWidth - clientWidth} px too wide`]),
        ...touching.map(card => `no space above the card ${card.textContent.trim().split("\\n")[0]}`),
    ];
}"""
TOKEN_FIELD = re.compile(f'name="{FORM_TOKEN}" value="[^"]*"')  # another one for each session
# One click after the other would have the page painted for each.
OPEN_DETAILS = "document.querySelectorAll('main details > summary').forEach(each => each.click())"


def examine(page: Page, views: Sequence[View] = VIEWS) -> list[str]:
    """What is wrong with the page as it is now, in each view."""
    # The view that the page is in comes first: each change has all of it laid out and painted again.
    views = views[::-1] if page.viewport_size == SIZES[views[-1].size] else views
    return [f"{page.url} {problem}" for view in views for problem in examine_view(page, view)]


def examine_view(page: Page, view: View) -> list[str]:
    """What is wrong in this view."""
    show(page, view)
    problems = page.evaluate(EXAMINE, view.ruled)
    return [f"{view.size}, {view.scheme}: {problem}" for problem in problems]


def show(page: Page, view: View) -> None:
    """Show the page as in this view."""
    if page.viewport_size != SIZES[view.size]:
        page.set_viewport_size(SIZES[view.size])
    page.emulate_media(color_scheme=view.scheme)


def examine_new(page: Page, address: str, examined: set[str], views: Sequence[View]) -> list[str]:
    """What is wrong with the page at this address, all of it opened; nothing if its markup was examined.

    That is so where an address leads to another page, and where there is nothing.
    """
    answer = page.goto(address)
    assert answer
    markup = TOKEN_FIELD.sub("", answer.text())
    if markup in examined:
        return []
    examined.add(markup)
    page.evaluate(OPEN_DETAILS)
    return examine(page, views)

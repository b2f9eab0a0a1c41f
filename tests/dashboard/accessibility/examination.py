"""What is wrong with a page that a browser shows: by axe's rules, and by where things stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, ViewportSize

from tests.dashboard.accessibility.documents import Document, merged

SIZES: dict[str, ViewportSize] = {
    "wide": {"width": 1920, "height": 1080},
    "desktop": {"width": 1280, "height": 800},
    "tablet": {"width": 768, "height": 1024},
    "phone": {"width": 390, "height": 844},
}


@dataclass(frozen=True, slots=True)
class View:
    """A kind of screen in light or dark, and whether axe's rules are run there.

    Where things stand is looked at in every view.
    """

    size: str
    scheme: Literal["light", "dark"]
    ruled: bool = False


# Rules of colour see the same on every screen, and all others the same in light and dark: so two views show
# them everything.
VIEWS = (
    View("desktop", "light", ruled=True),
    View("tablet", "light"),
    View("wide", "light"),
    View("phone", "dark", ruled=True),
)
# Of pages with nothing to show. What they have, pages with much have too, and around it all is the same.
VIEWS_OF_EMPTY = (View("desktop", "light", ruled=True), View("phone", "light"))
EXAMINE = Path(__file__).with_name("examination.js").read_text()
# The menu and what is told about keys: the same on every page, and most elements of most pages.
FRAME = ":is(.side-body, .menu-sheet, dialog) > *"
TEXTS_AND_VALUES = re.compile(r'(?<! class=")(?<! role=")(?<==")[^"]+|(?<=>)[^<]*[^<\s][^<]*|^[^<]+')
# One click after the other would have the page painted for each.
OPEN_DETAILS = "document.querySelectorAll('main details > summary').forEach(each => each.click())"
OPEN_FRAME = "document.querySelectorAll('header details:not(.menu)').forEach(each => each.open = true)"


def examine(page: Page, views: Sequence[View] = VIEWS, *, framed: bool = False) -> list[str]:
    """What is wrong with the page now, in each view; by axe's rules without its frame, or with it."""
    if framed:
        page.evaluate(OPEN_FRAME)
    # The view that the page is in comes first: each change has all of it laid out and painted again.
    views = views[::-1] if page.viewport_size == SIZES[views[-1].size] else views
    return [problem for view in views for problem in examine_view(page, view, framed=framed)]


def examine_view(page: Page, view: View, *, framed: bool) -> list[str]:
    """What is wrong in this view."""
    show(page, view)
    problems = page.evaluate(EXAMINE, {"ruled": view.ruled, "leftOut": [] if framed else [FRAME]})
    return [f"{view.size}, {view.scheme}: {problem}" for problem in problems]


def show(page: Page, view: View) -> None:
    """Show the page as in this view."""
    if page.viewport_size != SIZES[view.size]:
        page.set_viewport_size(SIZES[view.size])
    page.emulate_media(color_scheme=view.scheme)


def examine_new(
    page: Page, documents: Iterable[Document], examined: set[str], views: Sequence[View] = VIEWS
) -> list[str]:
    """What is wrong with the documents, all of them opened; those whose markup was not examined before.

    The same comes where an address leads to another page, and where there is nothing.
    """
    new = {document.markup: document for document in documents if document.markup not in examined}
    for markup in new:
        examined |= {markup, *looks(markup)}
    return [
        problem for document in merged(new.values()) for problem in _examine_document(page, document, views)
    ]


def _examine_document(page: Page, document: Document, views: Sequence[View]) -> list[str]:
    """What is wrong with the document, in the browser as if the service had answered it."""
    headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": document.policy}
    page.route(
        lambda url: url == document.address,
        lambda route: route.fulfill(body=document.markup, headers=headers),
        times=1,
    )
    answer = page.goto(document.address)
    assert answer
    assert answer.text() == document.markup
    page.evaluate(OPEN_DETAILS)
    return examine(page, views)


def looks(markup: str) -> set[str]:
    """The lines of a page without its texts, and without values of attributes other than class and role."""
    return {TEXTS_AND_VALUES.sub("…", line.strip()) for line in markup.splitlines()}

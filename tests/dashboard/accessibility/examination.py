"""What is wrong with a page that a browser shows: by axe's rules, and by where things stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Browser, Page, ViewportSize

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

    If `is_for_looks`, they are run only on pages with a text that looks as none before it. Where things stand
    is looked at in every view.
    """

    size: str
    scheme: Literal["light", "dark"]
    ruled: str | None = None
    is_for_looks: bool = False


# Rules of colour see the same on every screen, and all others the same in light and dark, but for what only a
# phone shows: the first of its kind is a new look. The menu there is opened by a test of its own.
VIEWS = (
    View("desktop", "light", ruled="html"),
    View("tablet", "light"),
    View("phone", "dark", ruled="main", is_for_looks=True),
)
# Of pages with nothing to show. What they have, pages with much have too, and around it all is the same.
VIEWS_OF_EMPTY = (View("desktop", "light", ruled="main"), View("phone", "light"))
# Of what fills a wide screen.
WIDE = (View("wide", "light"),)
# By how much the page has to be scrolled sideways, and the headings of cards without space between themselves
# and the card before; once what follows the size of the screen has done so.
PROBLEMS_OF_PLACE = """async () => {
    await new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)));
    const {scrollWidth, clientWidth} = document.documentElement;
    const touching = [...document.querySelectorAll(".card")].filter((card, place, all) => {
        const before = all[place - 1]?.getBoundingClientRect(), own = card.getBoundingClientRect();
        return before && own.top > before.top && own.top < before.bottom + 8;
    });
    return [
        ...(scrollWidth === clientWidth ? [] : [`${scrollWidth - clientWidth} px too wide`]),
        ...touching.map(card => `no space above the card ${card.textContent.trim().split("\\n")[0]}`),
    ];
}"""
# The violations of axe's rules in a copy of a page, with its style sheets and without its scripts.
#
# Contrast takes most of the time, and depends on how a text looks: it is examined on the first page that has
# texts of that element, class, font, colour and background, at all of them.
VIOLATIONS = """async ([markup, ruled, isForLooks]) => {
    const show = async copy => {
        const sheets = [...copy.querySelectorAll("link[rel=stylesheet]")];
        const loaded = sheet => new Promise(done => sheet.onload = sheet.onerror = done);
        const styled = Promise.all(sheets.map(loaded));
        document.documentElement.lang = copy.documentElement.lang;
        document.documentElement.replaceChildren(copy.head, copy.body);
        await styled;
    };
    const behind = element => {
        if (!element) return "";
        const {backgroundColor, backgroundImage, opacity} = getComputedStyle(element);
        const own = `${backgroundColor} ${backgroundImage} ${opacity} on `;
        return (own.startsWith("rgba(0, 0, 0, 0) none 1 ") ? "" : own) + behind(element.parentElement);
    };
    const lookOf = element => {
        const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
        const disabled = !!element.closest(":disabled, [aria-disabled=true]") || element.control?.disabled;
        const own = [element.localName, element.getAttribute("class"), disabled];
        return [...own, color, fontSize, fontWeight, textShadow, behind(element)].join();
    };
    const isText = element => element.matches("input, select, textarea")
        || [...element.childNodes].some(child => child.nodeType === Node.TEXT_NODE && child.data.trim());
    const markNewLooks = (looks = window.looks ??= new Set()) => {
        const texts = [...document.querySelectorAll(`${ruled} *`)].filter(isText)
            .filter(text => text.checkVisibility()).map(text => [text, lookOf(text)]);
        const fresh = texts.filter(([, look]) => !looks.has(look));
        fresh.forEach(([text, look]) => { text.setAttribute("data-new-look", ""); looks.add(look); });
        return fresh.length;
    };
    await show(new DOMParser().parseFromString(markup, "text/html"));
    if (!markNewLooks() && isForLooks) return [];
    axe.configure({rules: [{id: "color-contrast", selector: "[data-new-look]"}]});
    const {violations} = await axe.run(ruled, {resultTypes: ["violations"], preload: false});
    return violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
}"""
TOKEN_FIELD = re.compile(f'name="{FORM_TOKEN}" value="[^"]*"')  # another one for each session
# One click after the other would have the page painted for each.
OPEN_DETAILS = "document.querySelectorAll('main details > summary').forEach(each => each.click())"


class Examiner:
    """Finds what is wrong with pages of a service.

    Axe's rules are run in copies of the pages, one after the other in a window for each view: axe takes
    several times as long where a browser has just loaded it.
    """

    def __init__(self, browser: Browser, axe: str, base_url: str) -> None:
        """With axe's script."""
        self._browser = browser
        self._axe = axe
        self._base_url = base_url
        self._windows: dict[tuple[str, str], Page] = {}
        self._examined: set[str] = set()

    def examine(self, page: Page, views: Sequence[View] = VIEWS) -> list[str]:
        """What is wrong with the page as it is now, in each view."""
        # The view that the page is in comes first: each change has all of it laid out and painted again.
        views = views[::-1] if page.viewport_size == SIZES[views[-1].size] else views
        return [f"{page.url} {problem}" for view in views for problem in self._examine_view(page, view)]

    def examine_new(self, page: Page, address: str, views: Sequence[View]) -> list[str]:
        """What is wrong with the page at this address, all of it opened; nothing if its markup was examined.

        That is so where an address leads to another page, and where there is nothing.
        """
        answer = page.goto(address)
        assert answer
        markup = TOKEN_FIELD.sub("", answer.text())
        if markup in self._examined:
            return []
        self._examined.add(markup)
        page.evaluate(OPEN_DETAILS)
        return self.examine(page, views)

    def _examine_view(self, page: Page, view: View) -> list[str]:
        """What is wrong in this view."""
        show(page, view)
        problems = page.evaluate(PROBLEMS_OF_PLACE)
        if view.ruled:
            asked = [page.content(), view.ruled, view.is_for_looks]
            problems += self._window(view).evaluate(VIOLATIONS, asked)
        return [f"{view.size}, {view.scheme}: {problem}" for problem in problems]

    def _window(self, view: View) -> Page:
        """The window in which copies of pages are examined in this view."""
        key = view.size, view.scheme
        if key not in self._windows:
            # Styles that scripts have set are attributes in a copy, which the pages' policy forbids.
            window = self._browser.new_page(
                bypass_csp=True, reduced_motion="reduce", viewport=SIZES[view.size], color_scheme=view.scheme
            )
            window.add_init_script(self._axe)
            window.goto(f"{self._base_url}/sign-in")
            self._windows[key] = window
        return self._windows[key]


def show(page: Page, view: View) -> None:
    """Show the page as in this view."""
    if page.viewport_size != SIZES[view.size]:
        page.set_viewport_size(SIZES[view.size])
    page.emulate_media(color_scheme=view.scheme)

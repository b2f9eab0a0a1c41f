"""Every number on pages says what it counts, and leads to the rows that it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.costs.cost import ToldCost
from backend.domain.links.links import Link
from backend.storage.costs.costs import tell_costs
from backend.storage.driver.mongo import Database
from backend.storage.resources.things import Things
from tests.dashboard.analytics.test_events import told
from tests.dashboard.campaigns import bought, clicked, words
from tests.dashboard.people import Person
from tests.facts.fired_alerts import fire_alert

PAGES = (
    "/", "/links", "/links/{link}", "/attribution", "/cohorts", "/costs", "/sales", "/clicks", "/events",
    "/funnels/{funnel}?by=link",
)  # fmt: skip
# Pages that have no figures, only sentences and what was found: a figure there would need an explanation.
WITHOUT_FIGURES = ("/alerts", "/funnels", "/links/{link}/taps", "/search?q=Spring")
# Numbers that count nothing, so that nothing is to be explained.
_PLAIN = {
    "Made": "a date",
    "Amount": "the price of the sale of this row",
    "Delete": "a button",
    "Before": "a number of the time before, beside the one that is explained and leads on",
    "Requests": "what was not counted as a click, of which each row says why",
}
# Numbers that lead to no rows.
_ROWLESS = _PLAIN | {
    "Visitors": "told apart within a day and then forgotten; clicks beside it lead on",
    "Identities": "there is no page of single calls of `identify`",
    "All the way": "a share of two numbers beside it that lead on",
}
# Where an address leads to rows, rather than to another order or chart of the same page.
_ROWS = ("/clicks", "/sales", "/costs", "/cohorts/", "/funnels/", "/links/")
# Figures of a link's page, which count as the measure explained on it.
_COUNTED_AS = {"Clicks in all": "Clicks", "Last 30 days": "Clicks", "Last 7 days": "Clicks"}


@dataclass(frozen=True)
class Number:
    """A number above 0 on a page: its label, its HTML, its table, and whether its section has a sign."""

    label: str
    cell: str
    table: str = ""
    has_sign: bool = False


def label_of(heading: str) -> str:
    """The name of a column, without its currency and what sorts and explains it."""
    extras = r'<a class="by-change.*?</a>|<button.*?</button>|<span aria-hidden.*?</span>'
    without = re.sub(extras, "", heading)
    full = re.search(r'<abbr title="(.*?)"', without)
    return re.sub(", ([A-Z]{3}|%)$", "", unescape(full[1]) if full else words(without))


def windows(page: str) -> dict[str, str]:
    """The windows that explain numbers, by the name that a sign opens; one without words is none."""
    window = r'class="definition" id="(.*?)" popover>(\s*<p><strong>.*?</strong></p>\s*<p>\S.*?)</div>'
    return dict(re.findall(window, page, re.S))


def opened_by(html: str, page: str) -> list[str]:
    """The windows that signs in this part of the page open."""
    by_name = windows(page)
    opened = re.findall(r'<button[^>]*class="sign"[^>]*popovertarget="([^"]+)"', html)
    return [by_name[name] for name in opened if name in by_name]


def explained(page: str) -> set[str]:
    """The names that a window behind a sign, or the fold below the figures, explains."""
    fold = r"<details[^>]*>\s*<summary>(?:(?!</summary>).)*What these figures count.*?</details>"
    folds = "".join(re.findall(fold, page, re.S))
    named = "".join(opened_by(page, page))
    names = re.findall(r"<dt>(.*?)</dt><dd>\S", folds) + re.findall(r"<strong>(.*?)</strong>", named)
    return {words(name) for name in names}


def in_tables(main: str) -> Iterator[Number]:
    """The cells of numbers in tables."""
    for section in re.split("(?=<section)|(?<=</section>)", main):
        has_sign = bool(opened_by(section, main))
        for table in re.findall(r"<table.*?</table>", section, re.S):
            head, _, body = table.partition("<tbody>")
            title = words(head.partition("<thead>")[0])
            labels = [label_of(cell) for cell in re.findall(r"<th\b.*?</th>", head, re.S)]
            for row in re.findall(r"<tr.*?</tr>", body, re.S):
                cells = zip(labels, re.findall(r"<t[hd]\b.*?</t[hd]>", row, re.S), strict=False)
                yield from (
                    Number(label, cell, title, has_sign)
                    for label, cell in cells
                    if cell[:3] == "<td" and 'class="number' in cell.partition(">")[0]
                )


def in_figures(main: str) -> Iterator[Number]:
    """The figures with a name, the times and sums of a link, and the numbers of the steps of a funnel."""
    for figure in re.findall(r"<li[^>]*>(?:(?!</li>).)*measure-number.*?</li>", main, re.S):
        yield Number(words(figure.partition('measure-name">')[2].partition("</span>")[0]), figure)
    for figures in re.findall(r'<dl class="figures">.*?</dl>', main, re.S):
        for name, number in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", figures, re.S):
            yield Number(_COUNTED_AS.get(name, name), number)
    for steps in re.findall(r'<ol class="funnel">.*?</section>', main, re.S):
        has_sign = bool(opened_by(steps, main))
        for number in re.findall(
            r'<strong>(?:(?!</p>).)*?</strong>(?= )|<p class="soft">.*? stopped', steps, re.S
        ):
            yield Number("All the way" if "%" in number else "Step", number, has_sign=has_sign)


def numbers(page: str) -> list[Number]:
    """All numbers above 0 that a page shows as such."""
    main = page.partition("<main")[2]
    shown = [*in_tables(main), *in_figures(main)]
    return [number for number in shown if re.search("[1-9]", words(number.cell))]


def leads_to_rows(number: Number, page: str) -> bool:
    """Whether the number, or the window of its sign, has a link to a page of rows."""
    behind = number.cell + "".join(opened_by(number.cell, page))
    return any(href.startswith(_ROWS) for href in re.findall(r'href="([^"]+)"', behind))


async def made_funnel(database: Database, link: Link, now: datetime) -> str:
    """The id of a funnel from clicks to sales."""
    steps = SAVED_FUNNELS.told["steps"].parse("steps", [{"kind": "click"}, {"kind": "conversion"}])
    return (await Things(SAVED_FUNNELS).add(database, link.org_id, {"name": "Shop", "steps": steps}, now)).id


@pytest.fixture
async def paths(database: Database, link: Link, now: datetime) -> dict[str, str]:
    """Something of every kind happened to a link and a funnel of these ids."""
    yesterday = now - timedelta(days=1)
    await clicked(database, link, yesterday, 3, country="NZ")
    await bought(database, link, yesterday, "9.50", order="order-1", customer="ada")
    await told(database, link, yesterday, "added_to_cart")
    await tell_costs(database, link.org_id, [ToldCost("spring", now.date(), Decimal(5), "EUR")], now)
    await fire_alert(database, link.org_id, link.id)
    return {"link": link.id, "funnel": await made_funnel(database, link, now)}


async def test_numbers_say_what_they_count_and_lead_to_it(person: Person, paths: dict[str, str]) -> None:
    """A number without a way to its rows, or without an explanation, is one of the few named above. Pages
    without figures tell sentences that lead on. Names above the figures lead to tables below them."""
    for path in PAGES:
        page = (await person.get(path.format(**paths))).text
        shown, names = numbers(page), explained(page)
        assert shown or path == "/clicks", f"{path} shows no figures"
        lost = {
            (number.table, number.label)
            for number in shown
            if number.label not in _ROWLESS and not leads_to_rows(number, page)
        }
        assert lost == set(), path
        unexplained = {number.label for number in shown if not number.has_sign} - names - set(_PLAIN)
        assert unexplained == set(), path
        named = re.findall('href="#(top-[^"]+)"', page)
        assert bool(named) == (path in {"/", "/events"}), path
        assert [name for name in named if f'id="{name}"' not in page] == [], path
    for path in WITHOUT_FIGURES:
        page = (await person.get(path.format(**paths))).text
        assert numbers(page) == [], path
        if path == "/alerts":
            assert re.findall(r'data-label="Where to look"><a href="/', page)

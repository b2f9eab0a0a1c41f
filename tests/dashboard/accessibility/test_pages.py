"""Every page of the dashboard in Chromium: axe finds no violation, nothing breaks, nothing has to be scrolled
sideways; on a desktop and a phone, in light and dark, with little to show and with much.

What would be the same is examined once: what `VIEWS` says of axe's rules, the frame around all pages, rows
that look alike (`examination.js`), and markup that was served before at another address (`examine_new`). All
else is examined on every page in every view.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserType, Page

from sdk_build.node import install_packages
from tests.browser.conftest import LaunchArguments
from tests.dashboard.accessibility.examination import (
    OPEN_DETAILS,
    VIEWS,
    VIEWS_OF_EMPTY,
    VIEWS_OF_MOST_COLUMNS,
    examine,
    examine_new,
    looks,
    show,
)
from tests.dashboard.accessibility.full_office import DESTINATION, LONG, make_full_office
from tests.dashboard.office import Office, make_organization, make_user
from tests.processes.service_process import ServiceProcess

MOST_COLUMNS = ("/", "/attribution", "/links", "/cohorts")
AXE = Path(__file__).parents[2] / "accessibility"


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core."""
    install_packages(AXE)
    return (AXE / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def empty(running: ServiceProcess) -> Office:
    """An organization with nothing at all."""
    return Office(running.base_url, make_user(running, make_organization(running, "Empty")), {})


@pytest.fixture(scope="module")
def full(running: ServiceProcess) -> Office:
    """An organization that has everything, some of it long; its user has a second one."""
    return make_full_office(running)


@pytest.fixture(scope="module")
def sparing(browser_type: BrowserType, browser_type_launch_args: LaunchArguments) -> Iterator[Browser]:
    """Chromium that does not optimize scripts: axe begins anew on each page, and is done before it pays."""
    flags = [*browser_type_launch_args["args"], "--js-flags=--no-opt --no-maglev"]
    with browser_type.launch(**(browser_type_launch_args | {"args": flags})) as browser:
        yield browser


@pytest.fixture
def watched(sparing: Browser, axe: str) -> Iterator[Page]:
    """A page, with axe in all that it shows; nothing of that may break."""
    with sparing.new_context(reduced_motion="reduce") as context:
        context.add_init_script(axe)
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda message: problems.append(message.text) if "Content Security" in message.text else None,
        )
        yield page
        assert problems == []


@pytest.fixture(scope="module")
def examined() -> set[str]:
    """The markup of every page that was examined, whole and by its lines."""
    return set()


def test_every_page(watched: Page, full: Office, examined: set[str]) -> None:
    """Every page of an organization that has much; what has most columns fits a wide screen, and fills it."""
    wrong = examine_new(watched, f"{full.base_url}/sign-in", examined, VIEWS)
    wrong += _examine_frame(watched, full)
    for path in full.pages:
        views = VIEWS_OF_MOST_COLUMNS if path in MOST_COLUMNS else VIEWS
        wrong += examine_new(watched, f"{full.base_url}{path}", examined, views)
    assert wrong == []


def test_every_page_with_nothing(watched: Page, empty: Office, examined: set[str]) -> None:
    """What an organization that has nothing sees and no other: each page that has a line of its own."""
    wrong = _examine_frame(watched, empty)
    with empty.client() as client:
        for path in empty.pages:
            if not looks(client.get(path).text) <= examined:
                wrong += examine_new(watched, f"{empty.base_url}{path}", examined, VIEWS_OF_EMPTY)
    assert wrong == []


def _examine_frame(page: Page, office: Office) -> list[str]:
    """What is wrong around all pages of the office; on a short page."""
    office.open_session(page)
    page.goto(f"{office.base_url}/subscription")
    return examine(page, framed=True)


def test_shared_reports(watched: Page, full: Office) -> None:
    """What readers without an account see: a report of each kind, and one that is closed or never was."""
    names = ("token", "overview_token", "funnel_token", "links_token", "live_token")
    of_kinds = (full.ids[name] for name in names)
    for token in (*of_kinds, "x" * 43):
        watched.goto(f"{full.base_url}/shared/{token}")
        watched.evaluate(OPEN_DETAILS)
        assert examine(watched) == []


def test_every_form_with_problems(watched: Page, full: Office) -> None:
    """Forms that come again: what is wrong is told in a way that everyone perceives."""
    watched.goto(f"{full.base_url}/sign-in")
    watched.get_by_label("E-mail address").fill(f"x{uuid.uuid4().hex}@example.com")
    watched.get_by_label("Password").fill("wrong")
    watched.get_by_role("button", name="Sign in").click()
    watched.get_by_role("alert").wait_for()
    wrong = examine(watched)
    full.open_session(watched)
    for path, button in (
        ("/links/new", "Make the link"),
        ("/origins", "Allow"),
        ("/install", "Fill it in"),
        ("/webhooks/new", "Add the webhook"),
    ):
        watched.goto(f"{full.base_url}{path}")
        watched.locator("main input:not([type=hidden])").first.fill("?")
        watched.get_by_role("button", name=button, exact=True).click()
        watched.locator(".problem").first.wait_for()
        wrong += examine(watched)
    watched.goto(f"{full.base_url}/nothing")
    assert wrong + examine(watched) == []


def test_the_menu_and_what_is_shown_once(watched: Page, full: Office) -> None:
    """The open menu of a phone, a question about many links and its results, rows of a spreadsheet and
    what became of them, a key that was just made, a webhook with its secret, and the answer to a test."""
    full.open_session(watched)
    watched.goto(f"{full.base_url}/subscription")  # a short page: what matters is the menu
    show(watched, VIEWS[-1])
    watched.locator("details.menu > summary").click()
    wrong = examine(watched, framed=True)
    watched.goto(f"{full.base_url}/links?q=Link 2")  # some: what is told of each looks alike
    watched.get_by_label("All of this page").check()
    watched.get_by_role("button", name="Enable").click()
    watched.get_by_role("button", name="Enable 11 links").wait_for()
    wrong += examine(watched)
    watched.get_by_role("button", name="Enable 11 links").click()
    watched.get_by_role("heading", name="What became of them").wait_for()
    wrong += examine(watched)
    watched.goto(f"{full.base_url}/links/sheet")
    watched.locator("#sheet").fill(f"Destination\tName\tPath\n{DESTINATION}\t{LONG}\tsheet\nx\tB\tb c")
    watched.get_by_role("button", name="Look at the rows").click()
    watched.get_by_role("heading", name="What becomes of the rows").wait_for()
    wrong += examine(watched)
    watched.get_by_role("button", name="Make 1 link").click()
    watched.get_by_role("heading", name="What became of the rows").wait_for()
    wrong += examine(watched)
    watched.goto(f"{full.base_url}/keys")
    watched.get_by_role("button", name="Make a Browser SDK key").click()
    watched.locator(".secret").wait_for()
    wrong += examine(watched)
    watched.goto(f"{full.base_url}/webhooks/new")
    watched.get_by_label("Address").fill("https://127.0.0.1:1/")
    watched.get_by_role("button", name="Add the webhook").click()
    watched.locator(".secret").wait_for()
    watched.evaluate(OPEN_DETAILS)
    wrong += examine(watched)
    watched.get_by_role("button", name="Send a test").click()
    watched.get_by_text("It was not taken.").wait_for()
    wrong += examine(watched)
    assert wrong == []

"""Every page of the dashboard in Chromium: axe finds no violation, nothing breaks, nothing has to be scrolled
sideways; on a desktop and a phone, in light and dark, with little to show and with much.

What would be the same is examined once: what `VIEWS` says of axe's rules, the frame around all pages, rows,
cards and texts that look alike (`examination.js`), and markup that was served before at another address
(`examine_new`). All else is examined of every page in every view; `documents.py` puts many in one document.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserType, Page

from sdk_build.node import install_packages
from tests.browser.conftest import LaunchArguments
from tests.dashboard.accessibility.documents import Document, document_of
from tests.dashboard.accessibility.examination import (
    VIEWS,
    VIEWS_OF_EMPTY,
    examine,
    examine_new,
    looks,
    show,
)
from tests.dashboard.accessibility.full_office import DESTINATION, LONG, make_full_office
from tests.dashboard.office import Office, make_organization, make_user
from tests.dashboard.people import FormsOf
from tests.processes.service_process import ServiceProcess

SHORT = "/subscription"  # a page with little besides the frame
# The labels of rows that are one word, and have more than one line.
BROKEN_WORDS = """() => [...document.querySelectorAll("tbody th")].filter((label) => {
  const text = document.createRange();
  text.selectNodeContents(label);
  return !label.textContent.trim().includes(" ") && text.getClientRects().length > 1;
}).map((label) => label.textContent)"""
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
    wrong = _examine_frame(watched, full)
    with full.client() as client:
        wrong += examine_new(watched, _documents(client, full.pages), examined)
    with httpx.Client(base_url=full.base_url, timeout=60) as stranger:
        wrong += examine_new(watched, _documents(stranger, ["/sign-in"]), examined)
    assert wrong == []


def test_every_page_with_nothing(watched: Page, empty: Office, examined: set[str]) -> None:
    """What an organization that has nothing sees and no other: each page that has a line of its own."""
    with empty.client() as client:
        pages = _documents(client, empty.pages)
    new = [document for document in pages if not looks(document.content) <= examined]
    wrong = _examine_frame(watched, empty)
    assert wrong + examine_new(watched, new, examined, VIEWS_OF_EMPTY) == []


def _documents(client: httpx.Client, paths: Iterable[str]) -> list[Document]:
    """The pages at these addresses."""
    return [document_of(client.get(path, follow_redirects=True)) for path in paths]


def _examine_frame(page: Page, office: Office) -> list[str]:
    """What is wrong around all pages of the office; on a short page."""
    office.open_session(page)
    page.goto(f"{office.base_url}{SHORT}")
    return examine(page, framed=True)


def test_shared_reports(watched: Page, full: Office, examined: set[str]) -> None:
    """What readers without an account see: a report of each kind, and one that is closed or never was."""
    names = ("token", "overview_token", "funnel_token", "links_token", "live_token")
    tokens = [*(full.ids[name] for name in names), "x" * 43]
    with httpx.Client(base_url=full.base_url, headers={"Accept": "text/html"}, timeout=60) as reader:
        reports = _documents(reader, [f"/shared/{token}" for token in tokens])
    assert examine_new(watched, reports, examined) == []


def test_every_form_with_problems(watched: Page, full: Office, examined: set[str]) -> None:
    """Forms that come again: what is wrong is told in a way that everyone perceives."""
    with httpx.Client(base_url=full.base_url, timeout=60) as stranger:
        email = f"x{uuid.uuid4().hex}@example.com"
        answers = [_send(stranger, stranger.get("/sign-in"), "/sign-in", email=email, password="wrong")]
    with full.client() as client:
        for page, path, field in (
            ("/links/new", "/links/new", "selected_path"),
            ("/origins", "/origins", "origin"),
            ("/install", "/install", "web_key"),
            ("/webhooks/new", "/webhooks", "url"),
        ):
            answers.append(_send(client, client.get(page), path, **{field: "?"}))
        nothing = client.get("/nothing", headers={"Accept": "text/html"})
    assert 'role="alert"' in answers[0].text
    assert all('class="problem"' in answer.text for answer in answers[1:])
    assert examine_new(watched, map(document_of, [*answers, nothing]), examined) == []


def test_a_form_that_was_not_carried_out(watched: Page, full: Office, examined: set[str]) -> None:
    """The page in its place: over another's change, with long texts and a password to be typed again; and in
    another organization."""
    path = f"/links/{full.ids['link_id']}/edit"
    typed = {"destination_url": f"{DESTINATION}{LONG.replace(' ', '-') * 2}", "link_name": LONG}
    with full.client() as client:
        opened = client.get(path)
        name = FormsOf(opened.text).fields_of(path)["link_name"]
        _send(client, opened, path, link_name="Theirs")
        answers = {"Somebody was faster": _send(client, opened, path, **typed, password="what readers know")}
        again = client.get(path)
        assert again.status_code == 200, again.text[-1500:]
        _send(client, again, path, link_name=name)
        switch = FormsOf(opened.text).fields_of("/organization")
        for org_id in re.findall('name="org_id" value="([^"]+)"', opened.text):
            client.post("/organization", data=switch | {"org_id": org_id})
        answers["That form is of another organization"] = _send(client, opened, path, **typed)
    for title, answer in answers.items():
        assert (answer.status_code, title in answer.text) == (409, True)
    assert examine_new(watched, map(document_of, answers.values()), examined) == []
    shown = document_of(answers["Somebody was faster"])
    watched.route(shown.address, lambda route: route.fulfill(body=shown.markup, content_type="text/html"))
    watched.set_viewport_size({"width": 1280, "height": 800})
    watched.goto(shown.address)
    assert watched.evaluate(BROKEN_WORDS) == []


def test_the_menu(watched: Page, full: Office) -> None:
    """The open menu of a phone; on a short page, as what matters is the menu."""
    full.open_session(watched)
    watched.goto(f"{full.base_url}{SHORT}")
    show(watched, VIEWS[-1])
    watched.locator("details.menu > summary").click()
    assert examine(watched, framed=True) == []


def test_what_is_shown_once(watched: Page, full: Office, examined: set[str]) -> None:
    """A question about many links and its results, rows of a spreadsheet and what became of them, a key that
    was just made, a webhook with its secret, and the answer to a test."""
    sheet = f"Destination\tName\tPath\n{DESTINATION}\t{LONG}\tsheet\nx\tB\tb c"
    with full.client() as client:
        links = client.get("/links?q=Link 2")  # some: what is told of each looks alike
        chosen = dict.fromkeys(re.findall('name="(link-[^"]+)"', links.text), "on")
        question = _send(client, links, "/links/bulk?q=Link+2", action="enable", **chosen)
        checked = _send(client, client.get("/links/sheet"), "/links/sheet", sheet=sheet)
        webhook = _send(client, client.get("/webhooks/new"), "/webhooks", url="https://127.0.0.1:1/")
        [test_path] = re.findall('action="(/webhooks/[^"]+/test)"', webhook.text)
        answers = {
            "Enable 11 links": question,
            "What became of them": _send(client, question, "/links/bulk/done?q=Link+2"),
            "What becomes of the rows": checked,
            "What became of the rows": client.post(
                "/links/sheet/done", data=FormsOf(checked.text).fields_of("/links/sheet")
            ),
            'class="secret': _send(client, client.get("/keys"), "/keys", kind="web"),
            'class="secret"': webhook,
            "It was not taken.": _send(client, webhook, test_path),
        }
    for sign, answer in answers.items():
        assert sign in answer.text
    assert examine_new(watched, map(document_of, answers.values()), examined) == []


def _send(client: httpx.Client, page: httpx.Response, path: str, **fields: str) -> httpx.Response:
    """The answer to the page's form for this path with these fields."""
    data = FormsOf(page.text).fields_of(path) | fields
    return client.post(path, data=data, follow_redirects=True)

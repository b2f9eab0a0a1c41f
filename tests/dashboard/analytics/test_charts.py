"""Charts: drawn by the kept library that we serve ourselves, from the tables behind them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from backend.dashboard.frame.assets import FOLDER
from sdk_build.node import install_packages
from tests.dashboard.office import Office, make_key, make_organization, make_user
from tests.polling import wait_for
from tests.processes.service_process import ServiceProcess

VENDORED = FOLDER.parent / "vendored"
FILES = {
    "uplot.js": "dist/uPlot.iife.min.js",
    "uplot.css": "dist/uPlot.min.css",
    "uplot.LICENSE.txt": "LICENSE",
}
# How many pixels of the drawing are not empty.
INKED = """canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return pixels.filter((each, place) => place % 4 === 3 && each).length;
}"""


NOTE = "Letter sent <img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def clicked(running: ServiceProcess) -> Office:
    """An organization with a link that was made today, has three clicks, and of which something is noted."""
    org = make_organization(running, "Charts")
    domain = f"go.{org[:8]}.localhost"
    running.command("domain", "add", domain, "--org", org)
    api, headers = "/serviceCore/pa/v1", {"API-KEY": make_key(running, org, "rest")}
    body = {"domain": domain, "selected_path": "p", "destination_url": "https://a.example/", "link_name": "P"}
    with httpx.Client(base_url=running.base_url, timeout=60) as client:
        assert client.post(f"{api}/create-link", json=body, headers=headers).status_code == 201
        for _ in range(3):
            assert client.get("/p", headers={"Host": domain}).status_code == 302
        (link,) = client.get(f"{api}/links/page", headers=headers).json()["links"]
    note = ("--at", f"{datetime.now(UTC):%Y-%m-%d}", "--text", NOTE, "--link", link["id"])
    running.command("annotation", "add", "--org", org, *note)
    office = Office(running.base_url, make_user(running, org), {"link": link["id"]})
    with office.client() as client:
        wait_for(
            lambda: _total(client.get(f"/links/{link['id']}").text),
            "not all counted",
            lambda total: total == "3",
        )
    return office


def _total(page: str) -> str:
    """What a page says that all columns of its first chart come to."""
    title = re.search(r'<figure class="chart.*?<figcaption>.*?<strong>(.*?)</strong>', page, re.DOTALL)
    assert title, page
    return title[1]


@pytest.fixture
def address(page: Page, clicked: Office) -> str:
    """The address of that link's page, which `page` may see."""
    clicked.open_session(page)
    return f"{clicked.base_url}/links/{clicked.ids['link']}"


def test_the_library_is_the_package_that_is_locked() -> None:
    """The files that pages load are byte for byte those of the npm package that the lock names."""
    install_packages(VENDORED)
    package = VENDORED / "node_modules" / "uplot"
    for ours, theirs in FILES.items():
        assert (FOLDER / ours).read_bytes() == (package / theirs).read_bytes(), ours


def test_a_chart_shows_what_its_table_says(page: Page, address: str) -> None:
    """Under the strict policy the chart is drawn, and the pointer tells the numbers of the table's rows."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(address)
    chart = page.locator("figure.chart").first
    canvas = chart.locator("canvas")
    expect(canvas).to_have_count(1)
    assert canvas.evaluate(INKED) > 1000
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    day, clicks, visitors = chart.locator("tbody tr").first.locator("th, td").all_text_contents()
    expect(chart.locator(".chart-note div")).to_have_text([day, f"Clicks: {clicks}", f"Visitors: {visitors}"])
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    expect(chart.locator(".chart-note div").nth(1)).to_have_text("Clicks: 0")
    assert messages == []


def test_a_note_is_read_by_keyboard_and_by_touch(page: Page, address: str) -> None:
    """The marker of a day shows the notes of the list below, with what was changed of the link."""
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(address)
    chart = page.locator("figure.chart").first
    listed = chart.locator("[data-notes] li")
    expect(listed).to_have_count(2)
    marker = chart.get_by_role("button", name=NOTE)
    expect(marker).to_have_text("2")  # of one day
    bubble = chart.locator(".mark-note")
    marker.focus()
    expect(bubble).to_contain_text(NOTE)
    expect(bubble).to_contain_text("Link made")
    expect(bubble).to_be_visible()
    page.keyboard.press("Escape")
    expect(bubble).to_be_hidden()
    marker.click()
    expect(bubble).to_be_visible()
    page.locator("h1").click()
    expect(bubble).to_be_hidden()
    assert messages == []


def test_what_is_not_known_is_a_gap(page: Page, clicked: Office, address: str) -> None:
    """Days without clicks have no conversion rate: a gap, and a dash in the table."""
    page.goto(f"{address.partition('/links')[0]}/?period=7&chart=conversion_rate")
    chart = page.locator("figure.chart").first
    cells = chart.locator("tbody tr td:nth-of-type(1)")
    assert cells.all_text_contents() == ["0.0", *["– not known"] * 6]
    spark = page.locator("li", has_text="Conversion rate").locator("[data-spark]")
    assert spark.get_attribute("data-spark") == ",,,,,,0.0"
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    assert box
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    expect(chart.locator(".chart-note div").nth(1)).to_have_text("Conversion rate, %: – not known")
    # At the left there is no line along the bottom, and at the right there is a point.
    at_bottom = """(canvas, [from, to]) => {
        const left = canvas.width * from, wide = canvas.width * (to - from);
        const pixels = canvas.getContext("2d").getImageData(left, 0, wide, canvas.height).data;
        const bar = getComputedStyle(document.documentElement).getPropertyValue("--bar").trim();
        const colour = [1, 3, 5].map(at => parseInt(bar.slice(at, at + 2), 16));
        let count = 0;
        for (let at = 0; at < pixels.length; at += 4) {
            count += colour.every((each, of) => each === pixels[at + of]);
        }
        return count;
    }"""
    canvas = chart.locator("canvas")
    assert canvas.evaluate(at_bottom, [0.1, 0.8]) == 0
    assert canvas.evaluate(at_bottom, [0.8, 1]) > 0


def test_a_chart_follows_the_screen(page: Page, address: str) -> None:
    """On a narrower screen the chart gets narrower, and in the dark it has other colours."""
    page.goto(address)
    canvas = page.locator("figure.chart canvas").first
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "before => document.querySelector('figure.chart canvas').toDataURL() !== before", arg=before
    )
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function(  # a function: the page's policy lets no text be evaluated
        "() => document.querySelector('figure.chart canvas').getBoundingClientRect().width < 360"
    )


def test_without_scripts_the_table_is_there(page: Page, browser: Browser, address: str) -> None:
    """Where no script runs, there is no empty drawing, and the table opens and has the numbers."""
    with browser.new_context(java_script_enabled=False, storage_state=page.context.storage_state()) as plain:
        shown = plain.new_page()
        shown.goto(address)
        chart = shown.locator("figure.chart").first
        expect(chart.locator(".plot")).to_be_hidden()
        expect(chart.get_by_text(NOTE)).to_be_visible()
        chart.locator("summary").filter(has_text="As a table").click()
        expect(chart.get_by_role("cell", name="3", exact=True).first).to_be_visible()

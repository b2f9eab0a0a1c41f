"""Reports in frames of other sites, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.dashboard.office import make_organization
from tests.processes.local_server import Silent, local_server
from tests.processes.service_process import ServiceProcess, run_command

PASSWORD = "kites-42"
FRAME = '<!doctype html><title>Shop</title><iframe src="{}" width="900" height="700"></iframe>'


def shared(running: ServiceProcess, site: str) -> str:
    """The URL of a report with a password, which this site may show."""
    org_id = make_organization(running, "Shop")
    options = ("--name", "In a frame", "--group-by", "day", "--embed-origin", site, "--password-stdin")
    share = ("report", "share", "--org", org_id, *options)
    return str(run_command(*share, environment=running.environment, typed=PASSWORD)["url"])


@contextmanager
def serving(pages: list[str]) -> Iterator[int]:
    """A server of the last of these pages, under every host name; its port."""

    class Site(Silent, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer with the page."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(pages[-1].encode())

    with local_server(Site) as server:
        yield server.server_port


def test_a_report_opens_in_frames_of_its_sites_only(page: Page, running: ServiceProcess) -> None:
    """There it asks for its password, and shows itself and its file without any cookie; elsewhere nothing."""
    pages: list[str] = []
    with serving(pages) as port:
        shop, other = f"http://shop.localhost:{port}", f"http://other.localhost:{port}"
        pages.append(FRAME.format(shared(running, shop)))
        page.goto(shop)
        frame = page.frame_locator("iframe")
        frame.get_by_label("Password").fill(PASSWORD)
        frame.get_by_role("button", name="Open the report").click()
        expect(frame.get_by_role("heading", name="In a frame")).to_be_visible()
        with page.expect_download() as download:
            frame.get_by_role("button", name="CSV").click()
        assert Path(download.value.path()).read_text().startswith("day,partial,clicks")
        assert page.context.cookies() == []
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(other)


def test_live_is_loaded_again(page: Page, running: ServiceProcess) -> None:
    """Also without a cookie, by the pass of the page; what is open stays open, and a reader can pause it."""
    page.clock.install()
    org_id = make_organization(running, "Shop")
    share = ("report", "share", "--org", org_id, "--name", "Launch", "--kind", "live", "--password-stdin")
    url = run_command(*share, environment=running.environment, typed=PASSWORD)["url"]
    page.goto(url)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Open the report").click()
    page.get_by_text("Minute by minute", exact=True).click()
    page.context.clear_cookies()
    page.evaluate("document.querySelector('[data-live]').id = 'old'")
    with page.expect_response(url) as answered:
        page.clock.run_for(11_000)
    assert (answered.value.request.method, answered.value.status) == ("POST", 200)
    expect(page.locator("#old")).to_have_count(0)
    expect(page.get_by_role("table")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()

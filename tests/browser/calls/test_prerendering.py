"""A page that the browser prerenders is checked when it is shown, and never if it is not.

Chromium does not prerender while a debugger is attached: these tests start a bare one, and watch the server.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.recording_server import SDK, RecordingServer
from tests.browser_setup import find_chromium

PAGES = Path(__file__).parents[1] / "prerendering"
QUIET = ("--headless=new", "--no-sandbox", "--no-first-run", "--disable-component-update", "--disable-sync")
PRERENDERED = "/prerendered.html?utm_source=news"


@pytest.fixture
def folder(server: RecordingServer, tmp_path: Path) -> Iterator[Path]:
    """The folder that the server's pages come from, while a Chromium has prerendered the second page."""
    folder = tmp_path / "site"
    shutil.copytree(PAGES, folder)
    shutil.copy(SDK / "waylink.js", folder)
    server.folder = folder
    executable = find_chromium()
    assert executable
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    address = server.url("/index.html", "localhost")
    with subprocess.Popen([executable, *QUIET, profile, address], stderr=subprocess.DEVNULL) as browser:
        try:
            server.wait_for_visit("/told?prerendering=true")
            yield folder
        finally:
            browser.terminate()


def run_next(folder: Path, script: str) -> None:
    """Have the first page run this. It takes what it finds and does not look again: so all at once."""
    written = folder / "next.js.new"
    written.write_text(script)
    written.rename(folder / "next.js")


def test_a_page_that_is_never_shown_sends_nothing(server: RecordingServer, folder: Path) -> None:
    """Must not arrive: anything of the prerendered page. The first page's check and sentinel do."""
    run_next(folder, "Waylink.init({apiKey: 'k'}); Waylink.trackEvent('sentinel')")
    server.wait_for(2)
    assert [call.get("name") for call in server.calls] == [None, "sentinel"]
    assert {call["page"] for call in server.calls} == {server.url("/index.html", "localhost")}


def test_a_page_is_checked_when_it_is_shown(server: RecordingServer, folder: Path) -> None:
    """Must arrive, once the visitor goes there: the check with its signal, then what was called meanwhile."""
    assert server.calls == []
    run_next(folder, f"location.href = '{PRERENDERED}'")
    server.wait_for_visit("/told?shown")
    server.wait_for(2)
    assert [call["kind"] for call in server.calls] == ["attribution", "event"]
    assert server.calls[0]["signals"] == {"utm_source": "news"}
    assert server.visits.count(PRERENDERED) == 1

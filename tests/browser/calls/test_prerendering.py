"""A page that the browser prerenders is checked when it is shown, and not before.

Chromium does not prerender while a debugger is attached: the test starts a bare one, and watches the server.
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
# Has a page prerendered, and gives it up once that has called `reset`.
GIVE_UP_LOGOUT = """Waylink.init({apiKey: 'k'}).then(() => {
  const rules = document.createElement('script');
  rules.type = 'speculationrules';
  rules.text = '{"prerender": [{"source": "list", "urls": ["/logout.html"], "eagerness": "immediate"}]}';
  addEventListener('storage', ({key}) => {
    if (key !== 'reset') return;
    rules.remove();
    setTimeout(() => fetch('/told?device=' + document.cookie.includes('cl_device_id=')), 1000);
  });
  document.head.append(rules);
})"""


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


def test_a_page_is_checked_when_it_is_shown(server: RecordingServer, folder: Path) -> None:
    """Must not arrive before: anything of the prerendered page. Must arrive, once the visitor goes there: the
    check with its signal, then what was called meanwhile."""
    start = "Waylink.init({apiKey: 'k'}); Waylink.trackEvent('sentinel')"
    run_next(folder, f"{start}.then(() => {{ location.href = '{PRERENDERED}' }})")
    server.wait_for_visit("/told?shown")
    server.wait_for(4)
    assert server.kinds == ["attribution", "event"] * 2
    first, sentinel, check, event = server.calls
    assert sentinel["name"] == "sentinel"
    assert first["page"] == sentinel["page"] == server.url("/index.html", "localhost")
    assert check["signals"] == {"utm_source": "news"}
    assert check["page"] == event["page"] == server.url(PRERENDERED, "localhost")
    assert server.visits.count(PRERENDERED) == 1


def test_a_log_out_that_is_never_shown(server: RecordingServer, folder: Path) -> None:
    """A page that the browser prerenders and gives up logs nobody out: the visitor has not been there."""
    run_next(folder, GIVE_UP_LOGOUT)
    server.wait_for_visit("/told?device=true")

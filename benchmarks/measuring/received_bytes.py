"""How many bytes of a script a browser receives over HTTP, as it is and compressed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from playwright.sync_api import Browser

from sdk_build.compressed import compress
from tests.processes.local_server import Silent, local_server

# Content codings, each with the ending of its file.
CODINGS = {"identity": "", "gzip": ".gz", "br": ".br"}
LOAD = """async (path) => {
  const text = await (await fetch(path)).text();
  const { encodedBodySize } = performance.getEntriesByName(new URL(path, location).href)[0];
  return [text, encodedBodySize];
}"""


def received_bytes(browser: Browser, scripts: Sequence[str]) -> list[dict[str, int]]:
    """The bytes of each script's body that this browser receives and unpacks, by content coding.

    All are compressed as Waylink's own script is.
    """
    with tempfile.TemporaryDirectory() as name:
        files = [Path(name) / f"{place}.js" for place in range(len(scripts))]
        for file, script in zip(files, scripts, strict=True):
            file.write_text(script)
        compress(files)
        with local_server(_server_of(Path(name))) as server, browser.new_context() as context:
            page = context.new_page()
            page.goto(f"http://localhost:{server.server_port}/")
            received = []
            for file, script in zip(files, scripts, strict=True):
                loaded = {coding: page.evaluate(LOAD, f"/{coding}/{file.name}") for coding in CODINGS}
                assert all(text == script for text, _ in loaded.values()), "it arrived changed"
                received.append({coding: size for coding, (_, size) in loaded.items()})
    return received


def _server_of(folder: Path) -> type[BaseHTTPRequestHandler]:
    """Serves `/CODING/NAME`: the file of this name in this content coding."""

    class Handler(Silent, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            coding, _, name = self.path.removeprefix("/").partition("/")
            content = (folder / (name + CODINGS[coding])).read_bytes() if name else b"<!doctype html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if name else "text/html")
            self.send_header("Content-Length", str(len(content)))
            if name:
                self.send_header("Content-Encoding", coding)
            self.end_headers()
            self.wfile.write(content)

    return Handler

"""A receiver of webhooks in a process of its own, which notes what came on disk before it answers."""

from __future__ import annotations

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.processes.forked.service import FORK_SERVER


class KilledReceiver:
    """The receiver at a port, which can be killed and started again."""

    def __init__(self, port: int, file: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self._port, self._file = port, file
        self._process = self._started()

    def _started(self) -> BaseProcess:
        process = FORK_SERVER.Process(target=_receive, args=(self._port, self._file), daemon=True)
        process.start()
        return process

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self._process.kill()
        self._process.join()

    def start_again(self) -> None:
        """Start it again where it was."""
        self._process = self._started()

    @property
    def event_ids(self) -> list[str]:
        """The ids of all events that came, in order, with repeats."""
        with suppress(FileNotFoundError):
            return self._file.read_text().split()
        return []


def _receive(port: int, file: Path) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            if len(body := self.rfile.read(length)) < length:
                return  # who sent it was killed
            told = json.loads(body)
            with file.open("a") as noted:
                noted.write("".join(f"{event['id']}\n" for event in told.get("events", [told])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    ThreadingHTTPServer.allow_reuse_address = True
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()

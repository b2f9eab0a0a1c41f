"""HTTP servers inside the test's own process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

_CLIENT_WENT_AWAY = (BrokenPipeError, ConnectionAbortedError, ConnectionResetError)


class Silent:
    """For handlers that print nothing of the requests they answer: the test's output stays its own."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class LocalServer(ThreadingHTTPServer):
    """A server whose clients may go away, as browsers do when a page is left; other errors are printed."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error that is the server's own."""
        if not isinstance(sys.exception(), _CLIENT_WENT_AWAY):
            super().handle_error(request, client_address)


@contextmanager
def local_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[LocalServer]:
    """A server that runs on a free port of the loopback address for the length of the block."""
    with LocalServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

"""ClickHouse's engine behind an HTTP interface like the server's: it runs what the target sends.

Of the interface it has what the target uses: statements and parameters as a form, or a statement in the
address with rows in the body.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from chdb.session import Session

# Of HTTP, or of a server with copies; the engine in a process has neither.
_NOT_OF_THE_ENGINE = {"wait_end_of_query", "async_insert", "database"}


class ChdbServer:
    """Where the engine listens. `session` asks it directly; `broken` statements are not answered."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.statements: list[str] = []
        self.dies_after: int | None = None
        # What is answered in the engine's place, once each.
        self.refuses: list[tuple[int, str]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    @property
    def address(self) -> str:
        """What `--to` names."""
        return f"http://loader@127.0.0.1:{self._server.server_port}/shop"

    @contextmanager
    def running(self) -> Iterator[None]:
        """Listen for the length of the block."""
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()

    def run(self, settings: dict[str, str], statement: str, parameters: dict[str, str], rows: bytes) -> str:
        """What the engine answers. Raises ChdbError."""
        with self._lock:
            self.statements.append(statement)
            self.session.query(f"USE {settings['database']}")
            for name in settings.keys() - _NOT_OF_THE_ENGINE:
                self.session.query(f"SET {name} = '{settings[name]}'")
            text = f"{statement}\n{rows.decode()}" if rows else statement
            return str(self.session.query(text, params=parameters))


def _handler(engine: ChdbServer) -> type[BaseHTTPRequestHandler]:
    from chdb._exceptions import ChdbError

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked = dict(parse_qsl(urlsplit(self.path).query))
            if self.headers["Content-Type"] and "multipart/form-data" in self.headers["Content-Type"]:
                asked |= _form(self.headers["Content-Type"], body)
                body = b""
            if engine.dies_after is not None and engine.dies_after <= len(engine.statements):
                self.close_connection = True
                return
            if engine.refuses:
                self._answer(*engine.refuses.pop(0))
                return
            parameters = {name[6:]: value for name, value in asked.items() if name.startswith("param_")}
            settings = {name: value for name, value in asked.items() if not name.startswith("param_")}
            try:
                self._answer(200, engine.run(settings, settings.pop("query"), parameters, body))
            except ChdbError as error:
                self._answer(400, str(error))

        def _answer(self, status: int, text: str) -> None:
            content = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _form(content_type: str, body: bytes) -> dict[str, str]:
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {content_type}\r\n\r\n".encode() + body)
    return {
        str(part.get_param("name", header="Content-Disposition")): part.get_content().rstrip("\r\n")
        for part in message.iter_parts()
    }

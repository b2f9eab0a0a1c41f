"""A receiver of webhooks: verifies them as anybody's would, and answers what it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from standardwebhooks.webhooks import Webhook

from tests.processes.local_server import Silent, local_server


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came, and its JSON."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        """What it is called."""
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        """What it says."""
        return json.loads(self.body)

    @property
    def event_ids(self) -> list[str]:
        """The ids of its events, of one or of a batch."""
        body = self.json
        return [event["id"] for event in body.get("events", [body])]

    def verify(self, secret: str) -> Any:
        """Its JSON, if it was signed by this secret; else the verifier raises."""
        return Webhook(secret).verify(self.body, self.headers)


Answer = tuple[int, dict[str, str], str]
OK: Answer = (204, {}, "")


@dataclass(slots=True)
class Receiver:
    """The server. `answer` gives the answer to each request, for as long as it likes."""

    port: int
    requests: list[Request] = field(default_factory=list)
    answer: Callable[[Request], Answer] = lambda _: OK
    lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, path: str = "/hook") -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def event_ids(self) -> list[str]:
        """The ids of all events that came, in order, with repeats."""
        return self.ids_at("/hook")

    def ids_at(self, path: str) -> list[str]:
        """The ids of those that came to this path."""
        with self.lock:
            return [id_ for request in self.requests if request.path == path for id_ in request.event_ids]


@contextmanager
def receiver() -> Iterator[Receiver]:
    """Such a server on this machine, for the length of the block."""

    class Handler(Silent, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_of: Receiver

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(body) < int(self.headers["Content-Length"]):  # whoever sends it was killed
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, body)
            with Handler.server_of.lock:
                Handler.server_of.requests.append(request)
            status, answer_headers, text = Handler.server_of.answer(request)
            self.send_response(status)
            for name, value in answer_headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    with local_server(Handler) as server:
        Handler.server_of = Receiver(server.server_address[1])
        yield Handler.server_of

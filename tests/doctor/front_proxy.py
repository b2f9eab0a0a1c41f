"""A proxy before the service, which can be set up wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import httpx

from tests.processes.local_server import Silent, local_server

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}


@dataclass
class Behaviour:
    """What the proxy does besides forwarding; a test changes it as it goes."""

    address: str = "127.0.0.1"  # from which it calls the service
    sends: dict[str, str] = field(default_factory=dict)  # headers that it adds to requests
    host: str | None = None  # the Host header that it sends instead of the visitor's
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)  # its own, by path


@contextmanager
def front_proxy(upstream: str) -> Iterator[tuple[int, Behaviour]]:
    """A running proxy: its port, and its behaviour."""
    behaviour = Behaviour()

    class Handler(Silent, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._handle(b"")

        def do_POST(self) -> None:
            self._handle(self.rfile.read(int(self.headers["Content-Length"])))

        def _handle(self, body: bytes) -> None:
            own_answer = behaviour.answers.get(urlsplit(self.path).path)
            self._send(*(own_answer or self._forward(body)))

        def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
            changes = behaviour.sends | ({"Host": behaviour.host} if behaviour.host else {})
            transport = httpx.HTTPTransport(local_address=behaviour.address)
            with httpx.Client(transport=transport, timeout=20) as service:
                answer = service.request(
                    self.command, upstream + self.path, content=body, headers=headers | changes
                )
            headers = {name: value for name, value in answer.headers.items() if name not in _HOP_BY_HOP}
            return answer.status_code, headers, answer.content

        def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    with local_server(Handler) as server:
        yield server.server_port, behaviour

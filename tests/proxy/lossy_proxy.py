"""A proxy that loses something of each request, as proxies that were set up wrongly do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler

import httpx

from tests.local_server import Silent, local_server


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A request as it goes on to the service."""

    path: str
    body: bytes
    headers: dict[str, str]
    method: str = "POST"

    def with_header(self, name: str, value: str | None) -> Forwarded:
        """The same with another value for a header, or without it."""
        rest = {each: text for each, text in self.headers.items() if each.lower() != name.lower()}
        return replace(self, headers=rest if value is None else rest | {name: value})


Defect = Callable[[Forwarded], Forwarded]


@contextmanager
def lossy_proxy(service: str, defect: Defect) -> Iterator[str]:
    """A proxy in front of the service for the length of the block; its address."""

    class Handler(Silent, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sent = defect(Forwarded(self.path, body, headers)).with_header("Content-Length", None)
            answer = httpx.request(sent.method, service + sent.path, content=sent.body, headers=sent.headers)
            self.send_response(answer.status_code)
            for name in ("Content-Type", "Location"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.end_headers()
            self.wfile.write(answer.content)

    with local_server(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}"

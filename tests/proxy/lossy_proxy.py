"""Proxies that lose something of each request or answer, as proxies that were set up wrongly do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler

import httpx

from tests.processes.local_server import Silent, local_server


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A request as it goes on to the service."""

    path: str
    body: bytes
    headers: dict[str, str]
    method: str = "POST"

    def with_header(self, name: str, value: str | None) -> Forwarded:
        """The same with another value for a header, or without it."""
        rest = {header: text for header, text in self.headers.items() if header.lower() != name.lower()}
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


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of the service on its way back."""

    path: str
    status: int
    headers: dict[str, str]
    content: bytes

    def with_header(self, name: str, value: str | None) -> Answered:
        """The same with another value for a header, or without it."""
        rest = {header: text for header, text in self.headers.items() if header.lower() != name.lower()}
        return replace(self, headers=rest if value is None else rest | {name: value})


Harm = Callable[[Answered], Answered]


@contextmanager
def harmful_proxy(service: str, harm: Harm) -> Iterator[str]:
    """A proxy that hands the script out as `/a/hello.js`, and harms answers; the address of the script."""

    class Handler(Silent, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._forward(self.path.replace("/a/hello", "/waylink", 1))

        def do_POST(self) -> None:
            below = self.path.removeprefix("/a/hello")
            self._forward(below or "/serviceCore/sdk/v1/batch")

        def _forward(self, path: str) -> None:
            asked = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            with httpx.Client(base_url=service) as client:
                client.headers.clear()
                with client.stream(self.command, path, content=body, headers=asked) as answer:
                    content = b"".join(answer.iter_raw())
            harmed = harm(Answered(self.path, answer.status_code, dict(answer.headers), content))
            self.send_response(harmed.status)
            for name, value in harmed.with_header("Content-Length", str(len(harmed.content))).headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(harmed.content)

    with local_server(Handler) as server:
        yield f"http://127.0.0.1:{server.server_port}/a/hello.js"

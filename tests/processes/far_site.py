"""A web server that links lead to, whose pages a test writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from ssl import SSLContext

from tests.processes.local_server import Silent, local_server

Answer = Callable[["Handler"], None]


@dataclass(slots=True)
class Site:
    """The server: what it answers at each path, and what it was asked."""

    port: int
    scheme: str = "http"
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"{self.scheme}://{host}:{self.port}{path}"

    def page(self, path: str, html: str | bytes, status: int = 200, **headers: str) -> str:
        """Answer with this page from now on; its address."""
        body = html.encode() if isinstance(html, str) else html
        told = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }

        def answer(handler: Handler) -> None:
            handler.send_response(status)
            for name, value in told.items():
                handler.send_header(name, value)
            handler.end_headers()
            if handler.command != "HEAD":
                handler.wfile.write(body)

        self.answers[path] = answer
        return self.url(path)


class Handler(Silent, BaseHTTPRequestHandler):
    """Answers as its server's site says."""

    site: Site

    def do_GET(self) -> None:
        """Answer, and note that it was asked."""
        self.site.asked.append(f"{self.command} {self.path}")
        if answer := self.site.answers.get(self.path):
            answer(self)
        else:
            self.send_error(404)

    def do_HEAD(self) -> None:
        """As for GET."""
        self.do_GET()


@contextmanager
def far_site(tls: SSLContext | None = None) -> Iterator[Site]:
    """Such a server on this machine, for the length of the block; with `tls`, of https."""

    class Answering(Handler):
        pass

    with local_server(Answering) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        Answering.site = Site(int(server.server_address[1]), "https" if tls else "http")
        yield Answering.site

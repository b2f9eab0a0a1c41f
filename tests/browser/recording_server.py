"""A server of pages that use the SDK, and of its batch endpoint: it records calls and answers as a test says.

The SDK is tested against it where the server must fail or be watched closely. That SDK and service
understand each other is tested against the real service.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import urlsplit

from tests.polling import wait_for
from tests.processes.local_server import Silent, local_server

SDK = Path(__file__).parents[2] / "sdk_dist"
BATCH_PATH = "/serviceCore/sdk/v1/batch"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<title>Shop</title><link rel="icon" href="data:,">
<script src="/waylink.js"></script>{head}<h1>Shop</h1></html>"""

FILE_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".map": "application/json",
    ".json": "application/json",
}

Call = dict[str, Any]
# Status, headers and body of an answer.
Answer = tuple[int, dict[str, str], str]


def acknowledge(batch: dict[str, Any]) -> Answer:
    """The answer of a service that accepts every call, and attributes a check with a link to that link; or
    that erases what it is asked to."""
    results = [_accepted(call) for call in batch.get("calls", [])]
    return 200, {}, json.dumps({"results": results} | ({"erased": True} if "erase" in batch else {}))


def refuse(status: int, **headers: str) -> Callable[[dict[str, Any]], Answer]:
    """A service that answers with this status."""
    return lambda _: (status, {name.replace("_", "-"): value for name, value in headers.items()}, "{}")


def reject(status: int) -> Callable[[dict[str, Any]], Answer]:
    """A service that takes nothing of the request, and says why in an error of its own."""
    error = {"errorMessage": "Invalid Api Key", "fieldName": "UNAUTHORIZED_ACCESS"}
    return lambda _: (status, {}, json.dumps({"code": 130, "errorMessage": "No!", "error": error}))


def reject_each(batch: dict[str, Any]) -> Answer:
    """A service that rejects each call, and says why."""
    error = {"errorMessage": "name must be short", "fieldName": "name"}
    results = [{"call_id": call["call_id"], "status": "rejected", "error": error} for call in batch["calls"]]
    return 200, {}, json.dumps({"results": results})


def once(event: Event, answer: Callable[[dict[str, Any]], Answer]) -> Callable[[dict[str, Any]], Answer]:
    """A service that answers so when the event is set, or 20 seconds have passed."""

    def late(batch: dict[str, Any]) -> Answer:
        event.wait(20)
        return answer(batch)

    return late


def _accepted(call: Call) -> dict[str, Any]:
    result: dict[str, Any] = {"call_id": call["call_id"], "status": "accepted"}
    if call["kind"] == "attribution":
        names = ("cl_link_id", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content")
        signals = call.get("signals", {})
        known = {name: signals.get(name) for name in names} | {"custom_data": None}
        result["attribution"] = known if signals else None
    return result


@dataclass
class RecordingServer:
    """`requests` holds every batch in order of arrival; `answer` decides what each gets."""

    port: int
    answer: Callable[[dict[str, Any]], Answer] = acknowledge
    requests: list[dict[str, Any]] = field(default_factory=list)
    visits: list[str] = field(default_factory=list)  # the paths of all that was loaded
    head: str = ""
    folder: Path = SDK  # whose files are served; any other address is a page of the shop

    @property
    def calls(self) -> list[Call]:
        """Every call of every batch, in order of arrival; for a batch that asks to erase, "erase"."""
        batches = [request["batch"] for request in self.requests]
        return [call for batch in batches for call in batch.get("calls", [{"kind": "erase"}])]

    @property
    def kinds(self) -> list[str]:
        """The kinds of the calls, in order of arrival."""
        return [call["kind"] for call in self.calls]

    @property
    def host(self) -> str:
        """The name of the test's shop, for which the browser has no cookie: no other test has it."""
        return f"shop-{self.port}.test"

    def url(self, path: str = "/", host: str = "") -> str:
        """The address of a page of the shop, or on another of the test's host names."""
        return f"http://{host or self.host}:{self.port}{path}"

    def wait_for(self, count: int) -> list[Call]:
        """The calls, once this many have arrived."""
        wait_for(lambda: self.kinds, f"not {count} calls arrived", lambda kinds: len(kinds) >= count)
        return self.calls

    def wait_for_kinds(self, *kinds: str) -> None:
        """Return once calls of these kinds have arrived, in any order; each may come more than once."""
        wait_for(lambda: self.kinds, "only these arrived", lambda arrived: set(kinds) <= set(arrived))

    def wait_for_visit(self, path: str) -> None:
        """Return once this path has been loaded."""
        wait_for(lambda: self.visits, f"{path} was not loaded", lambda visits: path in visits, seconds=30)


# Of these origins a browser may have stored something.
_used_ports: set[int] = set()


@contextmanager
def recording_server() -> Iterator[RecordingServer]:
    """A running server on a free port, which no other of this process has had."""
    with ExitStack() as started:
        server = started.enter_context(local_server(_Handler))
        while server.server_port in _used_ports:
            server = started.enter_context(local_server(_Handler))
        _used_ports.add(server.server_port)
        recording = RecordingServer(server.server_port)
        server.recording = recording  # type: ignore[attr-defined]
        yield recording


class _Handler(Silent, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def recording(self) -> RecordingServer:
        return self.server.recording  # type: ignore[attr-defined,no-any-return]

    def do_GET(self) -> None:
        """A file of the folder, or a page of the shop."""
        self.recording.visits.append(self.path)
        file = self.recording.folder / urlsplit(self.path).path.removeprefix("/")
        if file.is_file():
            self._send(200, {"Content-Type": FILE_TYPES[file.suffix]}, file.read_text())
        else:
            self._send(200, {"Content-Type": "text/html"}, PAGE.format(head=self.recording.head))

    def do_POST(self) -> None:
        """A batch: recorded, then answered."""
        batch = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.recording.requests.append({"batch": batch, "path": self.path, "headers": dict(self.headers)})
        status, headers, body = self.recording.answer(batch)
        self._send(status, headers | {"Access-Control-Expose-Headers": "Retry-After"}, body)

    def do_OPTIONS(self) -> None:
        """A preflight, recorded as one: no request of the SDK should need it."""
        self.recording.requests.append(
            {"batch": {"calls": [{"kind": "preflight"}]}, "path": self.path, "headers": {}}
        )
        self._send(204, {"Access-Control-Allow-Headers": "*"}, "")

    def _send(self, status: int, headers: dict[str, str], body: str) -> None:
        content = body.encode()
        self.send_response(status)
        origin = self.headers.get("Origin", "*")
        for name, value in {
            "Access-Control-Allow-Origin": origin,
            "Content-Length": str(len(content)),
        }.items():
            self.send_header(name, value)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

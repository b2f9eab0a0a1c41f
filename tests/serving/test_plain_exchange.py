"""Plain requests and answers: read and written without h11, and just as h11 would."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import h11
import pytest
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.asyncio.task_group import TaskGroup
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.typing import ConnectionState
from hypothesis import example, given
from hypothesis import strategies as st

from backend.serving.hypercorn_server import QuickProtocol, StrictProtocol
from backend.serving.plain_exchange import read_request, write_head
from backend.serving.request_framing import StrictConnection

START = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]}
DATE = re.compile(rb"date: [^\r]+")
GET = b"GET /kites?a=%20b HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nX-A:  b \r\n\r\nkites"
LAST = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
CONVERSATIONS = {
    "plain requests": [GET, POST, GET, LAST],
    "behind one another in one piece": [GET + POST + LAST],
    "a plain one and the next before its answer": [GET, POST + GET, LAST],
    "in pieces": [POST[:60], POST[60:], GET[:5], GET[5:], LAST],
    "a body in pieces": [POST[:-2], POST[-2:], GET, LAST],
    "kept open by name": [GET.replace(b"\r\n\r\n", b"\r\nConnection: Keep-Alive\r\n\r\n"), LAST],
    "a tab": [POST.replace(b"  b ", b"\tb\t"), LAST],
    "a head alone": [GET.replace(b"GET", b"HEAD"), GET, LAST],
    "in chunks": [
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nki\r\n0\r\n\r\n",
        LAST,
    ],
    "after a question": [POST.replace(b"X-A:  b ", b"Expect: 100-continue"), LAST],
    "of HTTP/1.0": [GET, GET.replace(b"1.1", b"1.0")],
    "an upgrade": [GET.replace(b"\r\n\r\n", b"\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"), LAST],
    "no host": [GET, GET.replace(b"Host: localhost\r\n", b"")],
    "a bad one behind": [GET, b"what\r\n\r\n"],
    "the end of sending": [POST, b""],
    "a head that never ends": [GET[:-2], b""],
}
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "of a length": [START, {"type": "http.response.body", "body": b"done"}],
    "of no length": [START | {"headers": []}, {"type": "http.response.body", "body": b"done"}],
    "in pieces": [
        START,
        {"type": "http.response.body", "body": b"do", "more_body": True},
        {"type": "http.response.body", "body": b"ne"},
    ],
    "whole, with an end behind": [
        START,
        {"type": "http.response.body", "body": b"done", "more_body": True},
        {"type": "http.response.body"},
    ],
    "empty": [
        START | {"status": 302, "headers": [(b"Content-Length", b"0")]},
        {"type": "http.response.body"},
    ],
    "without a body": [START | {"status": 304, "headers": []}, {"type": "http.response.body"}],
    "that closes": [
        START | {"headers": [(b"content-length", b"4"), (b"connection", b"close")]},
        {"type": "http.response.body", "body": b"done"},
    ],
    "too long": [START, {"type": "http.response.body", "body": b"done and more"}],
    "too long later": [
        START,
        {"type": "http.response.body", "body": b"done", "more_body": True},
        {"type": "http.response.body", "body": b" and more"},
    ],
    "with a line too many": [
        START | {"headers": [(b"content-length", b"4"), (b"x", b"a\r\nset-cookie: b")]},
        {"type": "http.response.body", "body": b"done"},
    ],
    "a head alone": [START],
    "a head twice": [START, START, {"type": "http.response.body", "body": b"done"}],
    "a body alone": [{"type": "http.response.body", "body": b"done"}],
    "more behind the end": [
        START,
        {"type": "http.response.body", "body": b"done"},
        {"type": "http.response.body", "body": b"more"},
    ],
    "none": [],
}


class _Conversation:
    """One connection, without a network: what the server sends, and what the application is given."""

    def __init__(
        self,
        protocol: type[StrictProtocol],
        answer: list[dict[str, Any]],
        *,
        slow: bool,
        is_stopping: bool = False,
    ) -> None:
        """With `is_stopping`, the server is told to stop while the first request is in progress."""
        self._protocol = protocol
        self._answer = answer
        self._slow = slow
        self._is_stopping = is_stopping
        self._context = WorkerContext(None)
        self.events: list[Any] = []
        self.given: list[Any] = []

    async def hold(self, pieces: list[bytes]) -> tuple[list[Any], list[Any]]:
        """Send these pieces until the server closes the connection."""
        config = Config()
        config.errorlog = None
        loop = asyncio.get_running_loop()
        async with TaskGroup(loop) as tasks:
            places = (False, ("127.0.0.1", 1), ("127.0.0.1", 2), self._send)
            protocol = self._protocol(
                ASGIWrapper(self._app), config, self._context, tasks, ConnectionState({}), *places
            )
            reading = asyncio.create_task(self._read(protocol, pieces))
            await _settle(120)
            reading.cancel()
            await protocol.handle(Closed())
        return self.events, self.given

    async def _read(self, protocol: StrictProtocol, pieces: list[bytes]) -> None:
        for piece in pieces:
            if "closed" not in self.events:
                await protocol.handle(RawData(piece))
                await _settle(0 if self._slow else 10)

    async def _send(self, event: Event) -> None:
        if "closed" in self.events:
            return
        if not isinstance(event, RawData):
            self.events.append("closed" if isinstance(event, Closed) else event)
        elif self.events and isinstance(self.events[-1], bytes):
            # h11 writes head and body one after the other: what the client reads is the same.
            self.events[-1] = DATE.sub(b"date: now", self.events[-1] + event.data)
        elif event.data:
            self.events.append(DATE.sub(b"date: now", event.data))

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        await _settle(10 if self._slow else 0)
        self.given.append((scope, body))
        if self._is_stopping:
            await self._context.terminated.set()
        for part in self._answer:
            await send(part)


async def _settle(rounds: int) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)


@pytest.mark.parametrize("slow", [False, True], ids=["at once", "later"])
@pytest.mark.parametrize("answer", ANSWERS)
async def test_plain_requests_are_answered_as_by_h11(answer: str, slow: bool) -> None:
    """In every conversation the server sends the same, and the application sees the same requests."""
    for name, pieces in CONVERSATIONS.items():
        quick = await _Conversation(QuickProtocol, ANSWERS[answer], slow=slow).hold(pieces)
        strict = await _Conversation(StrictProtocol, ANSWERS[answer], slow=slow).hold(pieces)
        assert quick == strict, name


async def test_a_request_behind_the_last_answer_is_not_handled() -> None:
    """Once the server stops, nobody would get its answer, and the client sends it again elsewhere."""
    for protocol in (QuickProtocol, StrictProtocol):
        talk = _Conversation(protocol, ANSWERS["of a length"], slow=True, is_stopping=True)
        events, given = await talk.hold([GET, POST])
        assert len(given) == 1
        assert events[-1] == "closed"


async def test_plain_requests_do_not_reach_h11(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that they are as quick as they are meant to be."""
    monkeypatch.setattr(h11.Connection, "receive_data", None)
    for answer in ("of a length", "empty"):
        talk = _Conversation(QuickProtocol, ANSWERS[answer], slow=False)
        events, given = await talk.hold([GET, POST, GET])
        assert len(given) == 3
        assert [body for _, body in given] == [b"", b"kites", b""]
        assert "closed" not in events


USUAL = [b"Host: localhost", b"host:a", b"Content-Length: 5", b"content-length: 0", b"Connection: keep-alive"]
RARE = [b"Connection: close", b"Transfer-Encoding: chunked", b"Expect: 100-continue", b"Content-Length: +5"]
ODD = [b"X-A:", b"X-A: \t b ", b"X_b: \xe4", b" a: b", b"X A: b", b"X: a\rb", b"X: a\x00b", b"no colon"]
LINES = st.lists(st.sampled_from([*USUAL, *RARE, *ODD]), max_size=4)
TARGETS = [b"/", b"/a?b=c", b"*", b"/a b", b"/\x85", b" /", b"http://a/b"]
WORDS = (st.sampled_from([b"GET", b"POST", b"get", b"CONNECT"]), st.sampled_from(TARGETS))
BEGINNING = st.builds(b"%b %b HTTP/1.%b".__mod__, st.tuples(*WORDS, st.sampled_from([b"1", b"1", b"0"])))
END = st.sampled_from([b"\r\n", b"\n", b"\r\n\r\n"])


@given(BEGINNING, LINES, END, st.sampled_from([b"", b"kites", b"kites and more"]))
@example(b"POST /a?b=c HTTP/1.1", [b"Host: localhost", b"Content-Length: 5"], b"\r\n", b"kites")
def test_what_is_read_as_a_request_is_that_request_for_h11(
    beginning: bytes, lines: list[bytes], end: bytes, body: bytes
) -> None:
    """Whatever the bytes are, what is understood of them is what the strict h11 understands."""
    data = b"".join(line + b"\r\n" for line in [beginning, *lines]) + end + body
    request = read_request(data)
    if request is None:
        return
    strict = StrictConnection(h11.SERVER)
    strict.receive_data(data)
    head = strict.next_event()
    parts = []
    while not isinstance(event := strict.next_event(), h11.EndOfMessage):
        parts.append(bytes(event.data))
    assert request.method == head.method.decode()
    assert request.target == head.target
    assert request.headers == [(name.lower(), value) for name, value in head.headers.raw_items()]
    assert request.body == b"".join(parts)
    assert strict.trailing_data[0] == b""


@pytest.mark.parametrize("value", [b"", b"a\r\nb: c", b"a\nb", b"a\x00b", b"\xe4", b" a"])
def test_a_value_that_could_end_its_line_is_h11_s(value: bytes) -> None:
    """It refuses these; a value that is merely rare is written by it."""
    assert write_head(200, [(b"content-length", b"0"), (b"x", b"a b")])
    assert write_head(200, [(b"content-length", b"0"), (b"x", value)]) is None

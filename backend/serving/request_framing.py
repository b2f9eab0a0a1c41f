"""Refuses requests whose end a proxy in front of the service may see at another place (request smuggling).

h11 accepts a bare LF as end of a line, and Transfer-Encoding together with Content-Length, as RFC 9112
allows; Hypercorn switches to HTTP/2 without TLS if a client asks for it. With each of these, a request can be
hidden from a proxy that reads it differently.

A request may name its host twice: in a target such as `http://go.shop.com/sale`, and in its Host header. The
target counts (RFC 9112, 3.2.2); the application sees only that host.
"""

from __future__ import annotations

import re
from typing import Any

import h11

# The lines of a request's head: up to the first empty one, whichever way its lines end.
_HEAD_END = re.compile(rb"\n\r?\n")
_ABSOLUTE_FORM = re.compile(rb"(?i:https?)://(?P<host>[^/?#@]+)(?P<rest>([/?][^#]*)?)")
_BARE_LF = re.compile(rb"(?<!\r)\n")


class StrictConnection(h11.Connection):
    """An h11 connection that is stricter: it answers 400 to bare LFs, and to bodies with two lengths."""

    def next_event(self) -> Any:
        """Like h11's.

        Raises h11.RemoteProtocolError; the server then answers 400 and closes the connection.
        """
        if self.their_state is h11.IDLE:
            _refuse_bare_lf(self.trailing_data[0])
        before = self.trailing_data[0] if self.their_state is h11.SEND_BODY else b""
        event = super().next_event()
        if isinstance(event, h11.Request):
            _refuse_ambiguity(event)
            return event if event.target.startswith(b"/") else _in_origin_form(event)
        if isinstance(event, h11.EndOfMessage):
            # Behind the data of the last chunk there are lines only: its end, the trailers, an empty one.
            _refuse_bare_lf(before[: len(before) - len(self.trailing_data[0])])
        return event


def _refuse_bare_lf(received: bytes) -> None:
    if received.count(b"\n") == received.count(b"\r\n"):
        return  # nearly always, and quick to find out
    end = _HEAD_END.search(received)
    if _BARE_LF.search(received, 0, end.end() if end else len(received)):
        raise h11.RemoteProtocolError("a line ends with LF alone")


def _in_origin_form(request: h11.Request) -> h11.Request:
    """The request with only a path as its target, and with the target's host as its Host header."""
    absolute = _ABSOLUTE_FORM.fullmatch(request.target)
    if absolute is None:
        if request.target == b"*" and request.method == b"OPTIONS":
            return request
        raise h11.RemoteProtocolError("neither a path nor an address of http or https")
    others = [(name, value) for name, value in request.headers.raw_items() if name.lower() != b"host"]
    rest = absolute["rest"]
    return h11.Request(
        method=request.method,
        target=rest if rest.startswith(b"/") else b"/" + rest,
        headers=[(b"Host", absolute["host"]), *others],
        http_version=request.http_version,
    )


def _refuse_ambiguity(request: h11.Request) -> None:
    # h11's headers are slow to go through one by one; this list is not.
    names = {name.lower() for name, _ in request.headers.raw_items()}
    if b"transfer-encoding" in names and b"content-length" in names:
        raise h11.RemoteProtocolError("both Transfer-Encoding and Content-Length")
    if request.http_version not in {b"1.0", b"1.1"}:
        raise h11.RemoteProtocolError("not HTTP/1.1")

"""HTTP answers of the redirector, and how they are sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from backend.domain.links.destinations.web_address import with_click_id
from backend.visitor_pages.pages import VisitorPage

Headers = list[tuple[bytes, bytes]]
_ETAG, _LIFETIME = b"etag", b"cache-control"
_NO_STORE = (b"cache-control", b"no-store")
_NO_BODY = (b"content-length", b"0")
_NO_INDEX = (b"x-robots-tag", b"noindex")


@dataclass(slots=True)  # not frozen: one is made for each redirect, which would take three times as long
class Answer:
    """A complete HTTP answer: status, headers and body. `takes_click_id` says whether it is a redirect whose
    address may have one more parameter."""

    status: int
    headers: Headers
    body: bytes = b""
    takes_click_id: bool = False

    def add_click_id(self, click_id: bytes) -> None:
        """Add the id of the click to the address of this redirect."""
        name, address = self.headers[0]
        self.headers[0] = (name, with_click_id(address, click_id))

    def for_visitor(self, headers: dict[bytes, bytes]) -> Answer:
        """This answer, or 304 if it has an ETag that the request's If-None-Match names (RFC 9110, 13.1.2)."""
        tags = {tag.strip().removeprefix(b"W/") for tag in headers.get(b"if-none-match", b"").split(b",")}
        if b"*" in tags or dict(self.headers).get(_ETAG) in tags:
            return Answer(304, [header for header in self.headers if header[0] in {_ETAG, _LIFETIME}])
        return self


def redirect(address: bytes, *, takes_click_id: bool = False) -> Answer:
    """A 302 to this address.

    It must not be cached: every click has to reach the service (decisions, "Redirect").
    """
    return Answer(302, [(b"location", address), _NO_STORE, _NO_BODY], takes_click_id=takes_click_id)


def after_form(answer: Answer) -> Answer:
    """This answer to a form: what comes next is asked for by GET, whatever the browser (RFC 9110, 15.4.4)."""
    return replace(answer, status=303) if answer.status == 302 else answer


def page(shown: VisitorPage, status: int = 200, extra: Headers | None = None) -> Answer:
    """An HTML page that is neither cached nor indexed by search engines."""
    policy = (b"content-security-policy", shown.policy.encode("ascii"))
    headers = [_NO_STORE, _NO_INDEX, policy, *(extra or [])]
    return _with_body(status, b"text/html; charset=utf-8", shown.html.encode(), headers)


def file(media_type: bytes, body: bytes, seconds: int, *, tagged: bool = False) -> Answer:
    """A file that may be cached for this many seconds.

    With `tagged`, it has an ETag, so that clients can ask whether it has changed.
    """
    lifetime = (_LIFETIME, b"public, max-age=%d" % seconds)
    tag = [(_ETAG, b'"%s"' % sha256(body).hexdigest()[:32].encode())] if tagged else []
    return _with_body(200, media_type, body, [lifetime, *tag])


def plain(status: int, text: str, extra: Headers | None = None) -> Answer:
    """An answer of one line of plain text."""
    return _with_body(status, b"text/plain; charset=utf-8", text.encode(), [_NO_STORE, *(extra or [])])


def _with_body(status: int, media_type: bytes, body: bytes, extra: Headers) -> Answer:
    length = b"%d" % len(body)
    return Answer(status, [(b"content-type", media_type), (b"content-length", length), *extra], body)


async def send_answer(send: Any, answer: Answer, *, with_body: bool) -> None:
    """Send the answer by ASGI. For HEAD requests, pass `with_body=False`."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body if with_body else b""})

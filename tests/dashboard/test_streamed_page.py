"""Pages whose figures take a while: their head comes at once; what goes wrong later is told in its place."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from backend.app import Service
from backend.dashboard.analytics import attribution
from backend.dashboard.domains import listing
from backend.dashboard.frame import streamed_page
from tests.dashboard.people import Person
from tests.polling import until


async def test_the_head_comes_before_the_figures_are_known(
    service: Service, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status, headers, navigation and heading are sent while the content is still being found."""
    are_known = asyncio.Event()

    async def slow() -> dict[str, Any]:
        await are_known.wait()
        return {"rows": []}

    monkeypatch.setattr(listing, "_rows", slow)
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    request = asyncio.create_task(service(scope_of(person, "/domains"), never, send))
    try:
        await until(lambda: b"<h1>Domains</h1>" in body_of(sent), "the head was sent")
        assert sent[0]["status"] == 200
        headers = dict(sent[0]["headers"])
        assert headers[b"content-security-policy"].startswith(b"default-src 'none'")
        assert b"No domain yet" not in body_of(sent)
        assert sent[-1].get("more_body", False)
    finally:
        are_known.set()
    await request
    page = body_of(sent).decode()
    assert page.rstrip().endswith("</html>")
    assert page.index("<h1>Domains</h1>") < page.index("No domain yet")


@pytest.mark.parametrize(
    ("error", "sentence", "logged"),
    [
        (RuntimeError("a fault"), "Something went wrong.", "A page failed"),
        (AutoReconnect("gone"), "The service can&#39;t reach its storage.", "The storage can't be reached"),
    ],
)
async def test_what_goes_wrong_later_is_told(
    person: Person,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    sentence: str,
    logged: str,
) -> None:
    """In place of the content, in a page that is whole otherwise; and it is in the log."""

    async def fail(_: object) -> dict[str, Any]:
        raise error

    monkeypatch.setattr(attribution, "_content", fail)
    with caplog.at_level(logging.WARNING):
        page = await person.get("/attribution")
    assert sentence in page.text
    assert 'role="alert"' in page.text
    assert page.text.rstrip().endswith("</html>")
    [record] = [entry for entry in caplog.records if entry.name == "waylink.dashboard"]
    assert record.getMessage().startswith(logged)
    assert bool(record.exc_info) is isinstance(error, RuntimeError)


async def test_what_takes_longer_than_answers_may_is_whole(
    service: Service, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page whose figures take longer than any other answer may has them nevertheless."""
    monkeypatch.setitem(service.api.config, "RESPONSE_TIMEOUT", 0.05)

    async def slow() -> dict[str, Any]:
        await asyncio.sleep(0.2)
        return {"rows": []}

    monkeypatch.setattr(listing, "_rows", slow)
    page = (await person.get("/domains")).text
    assert "No domain yet" in page
    assert page.rstrip().endswith("</html>")


async def test_what_takes_too_long_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of the figures that nobody waits for any more, in a page that is whole otherwise."""
    monkeypatch.setattr(streamed_page, "CONTENT_SECONDS", 0.05)
    monkeypatch.setattr(listing, "_rows", asyncio.Event().wait)
    page = (await person.get("/domains")).text
    assert "That took too long." in page
    assert page.rstrip().endswith("</html>")


async def test_a_question_for_the_head_alone(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted for it."""
    asked: list[object] = []
    monkeypatch.setattr(attribution, "_content", asked.append)
    answer = await person.client.head("/attribution")
    assert (answer.status_code, answer.content, asked) == (200, b"", [])


def scope_of(person: Person, path: str) -> dict[str, Any]:
    """The request of this person's browser for a page."""
    cookies = "; ".join(f"{name}={value}" for name, value in person.client.cookies.items())
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost:8080"), (b"cookie", cookies.encode())],
        "client": ("2001:db8::1", 40000),
        "server": ("localhost", 8080),
        "extensions": {},
    }


async def never() -> dict[str, Any]:
    """What a browser sends after its request."""
    await asyncio.Event().wait()
    return {}


def body_of(sent: list[dict[str, Any]]) -> bytes:
    """What has been sent of the body."""
    return b"".join(message.get("body", b"") for message in sent)

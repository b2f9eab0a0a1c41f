"""Requests as a server hands them to the service, without a client that puts them in order first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from backend.app import Service


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The status and the headers of an answer, as bytes."""

    status: int
    headers: list[tuple[bytes, bytes]]

    @property
    def location(self) -> str | None:
        """Where it redirects to."""
        return next(
            (value.decode("ascii") for name, value in self.headers if name.lower() == b"location"), None
        )


async def answer_to(service: Service, host: str, target: bytes, *headers: tuple[bytes, bytes]) -> RawAnswer:
    """The answer to a GET of this target, with these headers behind Host."""
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    path, _, query = target.partition(b"?")
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "root_path": "",
        "path": path.decode("latin-1"), "raw_path": path, "query_string": query,
        "headers": [(b"host", host.encode()), *headers],
        "client": ("192.0.2.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    await service(scope, receive, send)
    return RawAnswer(sent[0]["status"], list(sent[0]["headers"]))

"""A request to the service as the ASGI server gives it, message by message, as no client library sends it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.app import Service

Message = dict[str, Any]


@dataclass
class RawRequest:
    """A POST to this path of the API. What is put into `pieces` arrives; `answer` has what is sent back."""

    service: Service
    path: str
    headers: Sequence[tuple[bytes, bytes]] = ()
    pieces: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    answer: list[Message] = field(default_factory=list)

    async def run(self) -> None:
        """Let the service handle it."""

        async def send(message: Message) -> None:
            self.answer.append(message)

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": self.path,
            "raw_path": self.path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"localhost"), *self.headers],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
        }
        await self.service(scope, self.pieces.get, send)

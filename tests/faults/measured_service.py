"""`python -m tests.faults.measured_service`: `waylink serve`, which also tells how its event loop paused."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from backend.app import Service, create_app
from backend.environment import load_settings
from backend.serving.workers import run_workers
from backend.settings import Settings

PATH = "/longest-pause"
_TICK = 0.001


def make_app(settings: Settings) -> MeasuredService:
    """The service with these settings, whose loop is measured."""
    return MeasuredService(create_app(settings))


class MeasuredService:
    """The whole service, and PATH: the longest pause of the loop since it was asked last, as a JSON object.

    `cpu` are the seconds that the loop's thread worked without turning, however busy the machine is with
    other things; `wall` those that passed.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._cpu = self._wall = 0.0
        self._measuring: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self._measuring = self._measuring or asyncio.create_task(self._measure())
        if scope.get("path") != PATH:
            await self._service(scope, receive, send)
            return
        body = json.dumps({"cpu": self._cpu, "wall": self._wall}).encode()
        self._cpu = self._wall = 0.0
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def _measure(self) -> None:
        while True:
            cpu, wall = time.thread_time(), time.monotonic()
            await asyncio.sleep(_TICK)
            self._cpu = max(self._cpu, time.thread_time() - cpu)
            self._wall = max(self._wall, time.monotonic() - wall - _TICK)


if __name__ == "__main__":
    settings = load_settings()
    ready = json.dumps({"base_url": settings.base_url})
    run_workers(settings, lambda: print(ready, flush=True), make_app)

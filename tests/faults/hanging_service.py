"""`python -m tests.faults.hanging_service`: `waylink serve` with an application that hangs on request."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import Any

from backend.serving.workers import run_workers
from backend.settings import Settings, load_settings

PATHS = {"/in-python", "/in-c"}


def make_app(_settings: Settings) -> Any:
    """The application; it has another thread beside the loop's, as the service has."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return hanging_app


async def hanging_app(scope: Any, receive: Any, send: Any) -> None:
    """Answers the id of its process, but never comes back from one of PATHS."""
    if scope["type"] == "lifespan":
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return
    if scope["path"] == "/in-python":
        hang_in_python()
    if scope["path"] == "/in-c":
        hang_in_c()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})


def hang_in_python() -> None:
    """A loop that never ends."""
    while True:
        pass


def hang_in_c() -> None:
    """A match that takes longer than the universe is old, and holds Python's lock all the time."""
    re.match("(a|a)*b", "a" * 200)


if __name__ == "__main__":
    settings = load_settings()
    ready = json.dumps({"base_url": settings.base_url})
    run_workers(settings, lambda: print(ready, flush=True), make_app)

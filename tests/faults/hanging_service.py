"""`python -m tests.faults.hanging_service`: `waylink serve` with an application that hangs on request."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from backend.environment import load_settings
from backend.serving import heartbeat, workers
from backend.settings import Settings

PATHS = {"/in-python", "/in-c"}
THREAD = "/thread-for-ever"
# While this is there, the system has no room for another process.
NO_ROOM = Path(os.environ.get("WAYLINK_DATA_DIR", ""), "no-room")
REFUSAL = Path(os.environ.get("WAYLINK_DATA_DIR", ""), "refusal")


def make_app(_settings: Settings) -> Any:
    """The application; it has another thread beside the loop's, as the service has."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return hanging_app


async def hanging_app(scope: Any, receive: Any, send: Any) -> None:
    """Answers the id of its process; never comes back from one of PATHS, and after THREAD does not end."""
    if scope["type"] == "lifespan":
        await live(receive, send)
        return
    if scope["path"] == THREAD:
        threading.Thread(target=threading.Event().wait).start()
    if scope["path"] == "/in-python":
        hang_in_python()
    if scope["path"] == "/in-c":
        hang_in_c()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})


def why_not() -> str:
    """Why it does not start, or nothing."""
    return REFUSAL.read_text() if REFUSAL.exists() else ""


async def live(receive: Any, send: Any) -> None:
    """Starts unless REFUSAL is there, whose text is the reason, and stops."""
    while True:
        kind = (await receive())["type"]
        if refusal := why_not():
            await send({"type": "lifespan.startup.failed", "message": refusal})
            return
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


def hang_in_python() -> None:
    """A loop that never ends; it sleeps most of the time, since it is there to hang and not to work."""
    while True:
        time.sleep(0.01)


def hang_in_c() -> None:
    """A match that takes longer than the universe is old, and holds Python's lock all the time."""
    re.match("(a|a)*b", "a" * 200)


def fork_if_there_is_room(fork: Callable[[], int]) -> int:
    """A fork, or the error that a system without room for it raises."""
    if NO_ROOM.exists():
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()


if __name__ == "__main__":
    os.fork = partial(fork_if_there_is_room, os.fork)
    heartbeat.LAST_SECONDS = 1.0
    settings = load_settings()
    ready = json.dumps({"base_url": settings.base_url})
    workers.run_workers(settings, lambda: print(ready, flush=True), make_app)

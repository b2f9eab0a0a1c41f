"""The smallest possible ASGI application that redirects, or answers a POST, to compare with.

`python -m benchmarks.empty_app PORT` serves it on Hypercorn.
"""

from __future__ import annotations

import sys
from typing import Any

import uvloop
from hypercorn.asyncio import serve
from hypercorn.config import Config

_HEADERS = [(b"location", b"https://shop.example/kites"), (b"content-length", b"0")]


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answer every POST with an empty 200, and every other request with an empty 302."""
    if scope["type"] == "http":
        status, headers = (200, _HEADERS[1:]) if scope["method"] == "POST" else (302, _HEADERS)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def main() -> None:
    """Serve the app on a port of the loopback address until the process is ended."""
    config = Config()
    config.bind = [f"127.0.0.1:{sys.argv[1]}"]
    config.loglevel = "WARNING"
    config.include_server_header = False
    uvloop.run(serve(app, config))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

"""A site's own application with the first-party proxy in it, for `python -m hypercorn`."""

from __future__ import annotations

import os
from typing import Any

from quart import Quart, Response, send_from_directory

from proxy_example.proxy import NAME
from proxy_example.proxy import app as proxy

site = Quart(__name__)


@site.get("/")
@site.get("/<name>")
async def page(name: str = "index.html") -> Response:
    """A file of the site."""
    return await send_from_directory(os.environ["PAGES"], name)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The proxy at its name, which is also told of the server's start and end; the site elsewhere."""
    is_for_proxy = scope["type"] == "lifespan" or scope["path"].startswith(NAME)
    await (proxy if is_for_proxy else site)(scope, receive, send)

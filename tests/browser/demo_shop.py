"""The demo shop on a free port, in a thread, beside tests that drive a browser; and who orders there."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hypercorn.asyncio import serve
from hypercorn.config import Config
from playwright.sync_api import Page

from demo_site.app import DemoSite, create_demo_site


def bound_port() -> tuple[socket.socket, int]:
    """A socket bound to a free loopback port: its address is known before anything is served."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound, int(bound.getsockname()[1])


@contextmanager
def demo_shop(config: DemoSite, bound: socket.socket) -> Iterator[None]:
    """The shop, served on this socket for the length of the block."""
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    bound.listen()  # before the thread has begun to serve it, so that a browser that comes early waits
    server = Config()
    server.bind = [f"fd://{bound.detach()}"]
    server.loglevel = "WARNING"
    app = create_demo_site(config)
    thread = threading.Thread(
        target=loop.run_until_complete,
        args=[serve(app, server, shutdown_trigger=stop.wait)],
    )
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def order(page: Page) -> None:
    """Put the kite of the page in the basket, and order."""
    page.get_by_role("button", name="Put in the basket").click()
    page.get_by_role("link", name="Go to checkout").click()
    page.get_by_label("Name").fill("Ada Nolan")
    page.get_by_label("E-mail address").fill("ada@example.org")
    page.get_by_role("button", name="Place the order").click()
    page.wait_for_url("**/thank-you")

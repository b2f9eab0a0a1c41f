"""Runs ASGI applications on Hypercorn with uvloop until they are told to stop."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import uvloop
from hypercorn.asyncio import serve as hypercorn_serve
from hypercorn.config import Config
from hypercorn.run import run as hypercorn_run
from hypercorn.utils import LifespanFailureError

from backend.settings import Settings

# A stopping server answers what it accepted, for at most this many seconds.
GRACEFUL_TIMEOUT = 20.0


class NotStarted(RuntimeError):
    """A server did not start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Site:
    """An application and where it listens; `port_variable` is the setting that moves it elsewhere."""

    app: Any
    host: str
    port: int
    port_variable: str


def run_workers(settings: Settings) -> None:
    """Serve `backend.app` by as many processes as the settings say, until SIGINT or SIGTERM."""
    config = _config(bind(settings.host, settings.port, "WAYLINK_PORT"))
    config.application_path = "backend.app:create_app()"
    config.worker_class = "uvloop"
    config.workers = settings.workers
    if hypercorn_run(config):
        raise NotStarted("A worker of the service ended with an error; its reason stands above.")


def run_sites(sites: Sequence[Site], on_ready: Callable[[], None]) -> None:
    """Serve these sites in this process until SIGINT or SIGTERM. `on_ready` runs once all of them answer."""
    sockets = [bind(site.host, site.port, site.port_variable) for site in sites]
    try:
        uvloop.run(_serve_all(sites, sockets, on_ready))
    except* LifespanFailureError as group:
        raise NotStarted(_reason(_first_leaf(group))) from None


def bind(host: str, port: int, variable: str) -> socket.socket:
    """A socket bound to the address; raises NotStarted where the port is taken or not allowed.

    It does not listen yet, so that nobody is answered before the application has started.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise NotStarted(_why_not_bound(error, host, port, variable)) from None
    return bound


def _why_not_bound(error: OSError, host: str, port: int, variable: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is taken: stop what listens there, or set {variable} to another."
    return f"Can't listen on {host} port {port} ({error.strerror}): set {variable} to another port."


def _config(bound: socket.socket) -> Config:
    config = Config()
    config.bind = [f"fd://{bound.detach()}"]
    config.graceful_timeout = GRACEFUL_TIMEOUT
    config.include_server_header = False
    config.loglevel = "WARNING"
    return config


async def _serve_all(
    sites: Sequence[Site], sockets: Sequence[socket.socket], on_ready: Callable[[], None]
) -> None:
    stop = _stop_event()
    async with asyncio.TaskGroup() as tasks:
        for site, bound in zip(sites, sockets, strict=True):
            tasks.create_task(_serve_one(site, bound, stop))
        await asyncio.gather(*(_answers(site, stop) for site in sites))
        if not stop.is_set():
            on_ready()


async def _serve_one(site: Site, bound: socket.socket, stop: asyncio.Event) -> None:
    try:
        await hypercorn_serve(site.app, _config(bound), shutdown_trigger=stop.wait)
    finally:
        stop.set()


async def _answers(site: Site, stop: asyncio.Event) -> None:
    """Return when the site accepts connections, or everything stops."""
    while not stop.is_set():
        try:
            _, writer = await asyncio.open_connection(site.host, site.port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


def _reason(error: BaseException) -> str:
    """What the application said, without Hypercorn's words around it."""
    _, quote, message = str(error).partition("'")
    return message.removesuffix("'") if quote else str(error)


def _first_leaf(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _stop_event() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop

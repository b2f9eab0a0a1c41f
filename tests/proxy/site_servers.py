"""Servers of a site that are its first-party proxy too: the recipes of proxy_example/, run as they are.

Each serves a page with the SDK, and passes the SDK's requests on to the service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.processes.local_server import Silent, local_server
from tests.processes.programs import find_program
from tests.processes.proxy_process import hypercorn_process, proxy_process, server_process
from tests.processes.service_process import free_port

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "proxy_example"
SERVICE_IN_RECIPES = "https://links.example"
FORWARDED_FOR = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;"


@dataclass(frozen=True, slots=True)
class Site:
    """A site's origin, and the SDK's baseUrl on it. Its page loads the SDK from there."""

    origin: str
    base_url: str

    @property
    def script(self) -> str:
        """The address of the script."""
        return f"{self.base_url}.js"


SiteServer = Callable[[Path, str], AbstractContextManager[Site]]


def make_pages(folder: Path, script: str = "/a/hello.js") -> Path:
    """A page that loads the SDK, in a folder."""
    pages = folder / "pages"
    pages.mkdir()
    pages.chmod(0o755)
    (pages / "index.html").write_text(
        f'<!doctype html><title>Shop</title><link rel="icon" href="data:,"><script src="{script}"></script>'
    )
    return pages


def recipe(name: str, service: str) -> str:
    """A recipe's text, with the service's address in it."""
    text = (RECIPES / name).read_text(encoding="utf-8")
    assert SERVICE_IN_RECIPES in text
    return text.replace(SERVICE_IN_RECIPES, service)


@contextmanager
def nginx(folder: Path, service: str) -> Iterator[Site]:
    """nginx, with the recipe in its server block."""
    with _nginx(folder, recipe("nginx.conf", service)) as site:
        yield site


@contextmanager
def keeping(folder: Path, service: str) -> Iterator[Site]:
    """A proxy that passes on all of a folder, and keeps its path: the service must know the name."""
    with _nginx(folder, f"location /a/ {{ proxy_pass {service}; {FORWARDED_FOR} }}") as site:
        yield site


@contextmanager
def cutting(folder: Path, service: str) -> Iterator[Site]:
    """A proxy that passes on all of a folder, and cuts the folder off the path."""
    with _nginx(folder, f"location /a/ {{ proxy_pass {service}/; {FORWARDED_FOR} }}") as site:
        yield site


@contextmanager
def _nginx(folder: Path, locations: str) -> Iterator[Site]:
    executable = find_program("nginx", "nginx-light")
    port = free_port()
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"""
        daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
        events {{}}
        http {{
            access_log off; default_type text/html;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
            server {{ listen 127.0.0.1:{port}; root {make_pages(folder)}; {locations} }}
        }}
        """
    )
    command = [executable, "-c", str(configuration), "-e", str(folder / "error.log")]
    with server_process(command, f"http://localhost:{port}"):
        yield Site(f"http://localhost:{port}", f"http://localhost:{port}/a/hello")


@contextmanager
def caddy(folder: Path, service: str) -> Iterator[Site]:
    """Caddy, with the recipe in its site block."""
    executable = find_program("caddy", "caddy")
    port = free_port()
    configuration = folder / "Caddyfile"
    configuration.write_text(
        f"{{\nadmin off\nauto_https off\n}}\nhttp://localhost:{port} {{\nbind 127.0.0.1\n"
        f"root * {make_pages(folder)}\nfile_server\n{recipe('Caddyfile', service)}\n}}\n"
    )
    command = [executable, "run", "--adapter", "caddyfile", "--config", str(configuration)]
    with server_process(command, f"http://localhost:{port}", XDG_DATA_HOME=str(folder), HOME=str(folder)):
        yield Site(f"http://localhost:{port}", f"http://localhost:{port}/a/hello")


@contextmanager
def python(folder: Path, service: str) -> Iterator[Site]:
    """The proxy in Python on a host of its own, beside a plain server of pages."""
    with proxy_process(service) as base_url:
        pages = str(make_pages(folder, f"{base_url}.js"))

        class Pages(Silent, SimpleHTTPRequestHandler):
            def __init__(self, *connection: Any) -> None:
                super().__init__(*connection, directory=pages)

        with local_server(Pages) as server:
            yield Site(f"http://localhost:{server.server_port}", base_url)


@contextmanager
def mounted(folder: Path, service: str) -> Iterator[Site]:
    """The proxy in Python as a part of the site's own application."""
    port = free_port()
    origin = f"http://localhost:{port}"
    pages = str(make_pages(folder))
    with hypercorn_process("tests.proxy.mounted:app", port, WAYLINK_SERVICE=service, PAGES=pages):
        yield Site(origin, f"{origin}/a/hello")

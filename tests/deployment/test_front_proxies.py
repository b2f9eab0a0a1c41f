"""Caddy and nginx in front of a service, as `deploy/` configures them, but for TLS and names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import ServiceStarter
from tests.faults.links import DOMAIN, new_link
from tests.proxy_process import server_process
from tests.service_process import ServiceProcess, free_port

DEPLOY = Path(__file__).parents[2] / "deploy"
Server = Callable[[Path, str], AbstractContextManager[str]]


@contextmanager
def caddy(folder: Path, service: str) -> Iterator[str]:
    """Caddy without certificates, on a free port."""
    address = f"http://127.0.0.1:{free_port()}"
    text = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8080", service)
    configuration = folder / "Caddyfile"
    port = address.rpartition(":")[2]
    site = text.replace("api.example.com, go.example.com {", f"http://:{port} {{\nbind 127.0.0.1")
    configuration.write_text(f"{{\nadmin off\nauto_https off\n}}\n{site}")
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
    with server_process(command, address, XDG_DATA_HOME=str(folder), HOME=str(folder)):
        yield address


@contextmanager
def nginx(folder: Path, service: str) -> Iterator[str]:
    """nginx without certificates, on a free port."""
    address = f"http://127.0.0.1:{free_port()}"
    text = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8080", service)
    server = re.sub(r" *ssl_certificate.*\n", "", text)
    server = server.replace("listen 443 ssl", f"listen {address.removeprefix('http://')}")
    server = server.replace("api.example.com go.example.com", "_")
    configuration = folder / "nginx.conf"
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration.write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{server}\n}}\n"
    )
    with server_process(["nginx", "-c", str(configuration), "-e", str(folder / "error.log")], address):
        yield address


@pytest.fixture(scope="module")
def service(start_service: ServiceStarter) -> Iterator[ServiceProcess]:
    """A service that believes proxies on this machine."""
    with start_service(WAYLINK_TRUSTED_PROXIES="127.0.0.1") as service:
        yield service


@pytest.fixture(scope="module")
def link(service: ServiceProcess) -> dict[str, str]:
    """A link of the service."""
    return new_link(service)


@pytest.mark.parametrize(("name", "server"), [("caddy", caddy), ("nginx", nginx)])
def test_a_proxy_in_front(
    service: ServiceProcess, link: dict[str, str], tmp_path: Path, name: str, server: Server
) -> None:
    """Through it links redirect by their Host, the API answers, and forwarding headers arrive."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    with server(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")) as address:
        answer = httpx.get(address + link["path"], headers={"host": DOMAIN})
        assert answer.headers["location"].startswith("https://shop.example?cl_link_id=")
        unknown = httpx.get(address + link["path"], headers={"host": "go.nobody.example"})
        assert unknown.status_code == 404
        assert httpx.get(f"{address}/healthz", headers={"host": "localhost"}).json() == {"status": "ok"}
        # Only for this machine, and not through a proxy: the forwarding headers have arrived.
        hidden = httpx.get(f"{address}/metrics", headers={"host": "localhost"})
        assert hidden.status_code == 404

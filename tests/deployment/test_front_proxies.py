"""Caddy and nginx in front of a service, as `deploy/` configures them, but for certificates and names."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
import pytest

from backend.domain.fields.rules import WebAddress
from tests.conftest import ServiceStarter
from tests.faults.links import DOMAIN, new_limited_link, new_link
from tests.faults.mongod import stopped_mongod
from tests.processes.programs import find_program
from tests.processes.proxy_process import server_process
from tests.processes.service_process import ServiceProcess, free_port, service_process

DEPLOY = Path(__file__).parents[2] / "deploy"
ANDROID = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile "
    "Safari/537.36"
)
Server = Callable[[Path, str], AbstractContextManager[str]]


@contextmanager
def caddy(folder: Path, service: str) -> Iterator[str]:
    """Caddy on a free port, with certificates of an authority of its own instead of a public one."""
    port = free_port()
    text = (DEPLOY / "Caddyfile").read_text().replace("127.0.0.1:8080", service)
    text = text.replace(
        "{\n\ton_demand_tls",
        "{\nadmin off\nskip_install_trust\nauto_https disable_redirects\n\ton_demand_tls",
    )
    text = text.replace("https:// {", f"https://:{port} {{\nbind 127.0.0.1")
    text = text.replace("\ttls {", "\ttls internal {")
    configuration = folder / "Caddyfile"
    configuration.write_text(text)
    command = [
        find_program("caddy", "caddy"),
        "run",
        "--adapter",
        "caddyfile",
        "--config",
        str(configuration),
    ]
    with server_process(command, f"http://127.0.0.1:{port}", XDG_DATA_HOME=str(folder), HOME=str(folder)):
        yield f"https://127.0.0.1:{port}"


@contextmanager
def nginx(folder: Path, service: str, other: str = "") -> Iterator[str]:
    """nginx without certificates, on a free port, with a socket as its port 80. Without `other`, its second
    host is down."""
    address = f"http://127.0.0.1:{free_port()}"
    text = (DEPLOY / "nginx.conf").read_text().replace("127.0.0.1:8080", service.removeprefix("http://"))
    text = text.replace("10.0.0.2:8080", other or f"127.0.0.1:{free_port()}")
    text = re.sub(r" *(ssl_certificate|listen \[::\]).*\n", "", text)
    text = text.replace("listen 443 ssl", f"listen {address.removeprefix('http://')}")
    text = text.replace("listen 80;", f"listen unix:{folder}/port-80;")
    text = text.replace("/var/www/letsencrypt", str(folder))
    server = text.replace("api.example.com go.example.com", "_")
    configuration = folder / "nginx.conf"
    temporary = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration.write_text(
        f"daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary}\n{server}\n}}\n"
    )
    with server_process(
        [find_program("nginx", "nginx-light"), "-c", str(configuration), "-e", str(folder / "error.log")],
        address,
    ):
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


def get(address: str, folder: Path, host: str, path: str, **headers: str) -> httpx.Response:
    """What a visitor of this host name gets, who trusts the authority of the test's Caddy."""
    root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    verify = ssl.create_default_context(cafile=root) if root.exists() else True
    with httpx.Client(verify=verify) as visitor:
        return visitor.get(
            address + path, headers=headers | {"host": host}, extensions={"sni_hostname": host}, timeout=60
        )


@pytest.mark.parametrize("server", [caddy, nginx])
def test_a_proxy_in_front(
    service: ServiceProcess, link: dict[str, str], tmp_path: Path, server: Server
) -> None:
    """Through it links redirect by their Host, the API answers, forwarding headers arrive, and the SDK's
    script stays compressed."""
    with server(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")) as address:
        answer = get(address, tmp_path, DOMAIN, link["path"])
        assert answer.headers["location"].startswith("https://shop.example?cl_link_id=")
        assert get(address, tmp_path, DOMAIN, "/unknown").status_code == 404
        assert get(address, tmp_path, "localhost", "/healthz").json() == {"status": "ok"}
        script = get(address, tmp_path, "localhost", "/waylink.js")
        assert script.headers["content-encoding"] == "gzip"
        # Only for this machine, and not through a proxy: the forwarding headers have arrived.
        assert get(address, tmp_path, "localhost", "/metrics").status_code == 404
        assert get(address, tmp_path, "localhost", f"/tls/ask?domain={DOMAIN}").status_code == 404


def test_a_certificate_only_for_names_of_the_service(service: ServiceProcess, tmp_path: Path) -> None:
    """Caddy gets certificates for link domains, also new ones, and for no other name."""
    with caddy(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")) as address:
        assert get(address, tmp_path, "localhost", "/healthz").status_code == 200
        with pytest.raises(httpx.ConnectError, match="internal error"):
            get(address, tmp_path, "go.new.localhost", "/")
        org_id = service.command("organization", "create", "New")["id"]
        service.command("domain", "add", "go.new.localhost", "--org", org_id)
        assert get(address, tmp_path, "go.new.localhost", "/x").status_code == 404


def test_nginx_leads_from_port_80_to_https(service: ServiceProcess, tmp_path: Path) -> None:
    """Without TLS nginx answers the proof for certificates, and leads all else to https with its method."""
    proof = tmp_path / ".well-known" / "acme-challenge" / "token"
    proof.parent.mkdir(parents=True)
    proof.write_text("proof")
    with nginx(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")):
        port_80 = httpx.HTTPTransport(uds=str(tmp_path / "port-80"))
        with httpx.Client(transport=port_80, base_url=f"http://{DOMAIN}") as visitor:
            answer = visitor.get("/spring?a=b")
            assert (answer.status_code, answer.headers["location"]) == (308, f"https://{DOMAIN}/spring?a=b")
            assert visitor.get("/.well-known/acme-challenge/token").text == "proof"


def test_nginx_goes_on_with_one_of_two_hosts(
    service: ServiceProcess, link: dict[str, str], tmp_path: Path
) -> None:
    """While one of the hosts is down, every visitor is answered by the other one."""
    with nginx(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")) as address:
        answers = [get(address, tmp_path, DOMAIN, link["path"]).status_code for _ in range(20)]
    assert answers == [302] * 20


def test_nginx_gives_no_host_up_for_its_503(tmp_path: Path) -> None:
    """While MongoDB hangs, both hosts answer 503 for what is not in memory, and links that are lead on."""
    with service_process(tmp_path / "data") as service:
        path = new_link(service)["path"]
        host = service.base_url.replace("http://localhost", "127.0.0.1")
        with nginx(tmp_path, host, host.removeprefix("http://")) as address:
            assert get(address, tmp_path, DOMAIN, path).status_code == 302
            with stopped_mongod(tmp_path / "data"):
                asked = ("/x", path, path, "/y", path)
                answers = [get(address, tmp_path, DOMAIN, path).status_code for path in asked]
    assert answers == [503, 302, 302, 503, 302]


@pytest.mark.parametrize("server", [caddy, nginx])
def test_the_longest_redirect_arrives(
    service: ServiceProcess, link: dict[str, str], tmp_path: Path, server: Server
) -> None:
    """A destination as long as one may be, with as long a query as the service reads; also of letters that
    redirects percent-encode, and in an address of Android, which encodes them once more."""
    org_id, most = link["org_id"], WebAddress().max_bytes - 22
    plain, letters = (f"https://shop.example/?{text}" for text in ("a" * most, "\u00fc" * (most // 2)))
    service.command("app", "set", DOMAIN, "--org", org_id, "--android-package", "com.shop", "--yes")
    fallback = {"android_behavior": 2, "android_fallback_url": letters}
    asked = [
        (new_limited_link(service, link["key"], destination_url=plain), "b" * 8_000, {}),
        (new_limited_link(service, link["key"], destination_url=letters), "b" * 8_000, {}),
        (new_limited_link(service, link["key"], **fallback), "%22" * 2_600, {"User-Agent": ANDROID}),
    ]
    with server(tmp_path, service.base_url.replace("http://localhost", "127.0.0.1")) as address:
        for path, query, headers in asked:
            answer = get(address, tmp_path, DOMAIN, f"{path}?b={query}", **headers)
            assert answer.status_code == 302, (answer.text, path)
            assert len(answer.headers["location"]) > WebAddress().max_bytes

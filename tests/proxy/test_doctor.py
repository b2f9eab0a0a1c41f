"""`waylink doctor proxy`: what it says of proxies that lose something."""

from __future__ import annotations

from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from backend.cli import main
from tests.proxy.lossy_proxy import Defect, Forwarded, lossy_proxy
from tests.service_process import ServiceProcess, free_port


@pytest.fixture
def service(running: ServiceProcess) -> str:
    """The address of a service."""
    return running.base_url


def examine(address: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["doctor", "proxy", address])


DEFECTS: dict[str, tuple[Defect, str]] = {
    "drops the Origin": (lambda sent: sent.with_header("Origin", None), "header Origin: it arrived missing."),
    "drops cookies": (lambda sent: sent.with_header("Cookie", None), "header Cookie: it arrived missing."),
    "drops headers it does not know": (
        lambda sent: sent.with_header("X-Waylink-Probe", None),
        "header X-Waylink-Probe: it arrived missing."),
    "names itself": (
        lambda sent: sent.with_header("User-Agent", "proxy/1"), "header User-Agent: it arrived changed."),
    "makes JSON of text": (
        lambda sent: sent.with_header("Content-Type", "application/json"),
        "header Content-Type: it arrived changed."),
    "changes the encoding": (
        lambda sent: replace(sent, body=sent.body.decode().encode("latin-1", "replace")),
        "body: it arrived changed."),
    "decodes the query": (
        lambda sent: replace(sent, path=sent.path.replace("%20", "+")), "query: it arrived changed."),
    "drops the query": (
        lambda sent: replace(sent, path=sent.path.partition("?")[0]), "query: it arrived changed."),
    "cuts the path": (
        lambda sent: replace(sent, path=sent.path.replace("/a?", "?")), "path: it arrived changed."),
    "makes a GET of it": (
        lambda sent: replace(sent, method="GET"), "method: a POST arrived as GET."),
    "does not forward this path": (
        lambda sent: replace(sent, path="/elsewhere"), "is the path forwarded unchanged?"),
    "passes Host on": (
        lambda sent: sent.with_header("Host", "shop.example"), "The proxy passes the Host header on"),
}  # fmt: skip


@pytest.mark.parametrize("name", DEFECTS)
def test_what_is_lost_is_named(service: str, name: str) -> None:
    """Each defect is named, and the command fails."""
    defect, sentence = DEFECTS[name]
    with lossy_proxy(service, defect) as address:
        examined = examine(address)
    assert examined.exit_code == 1
    assert sentence in examined.stdout


def without_several(sent: Forwarded) -> Forwarded:
    """What is left of a request by a proxy with three defects."""
    return replace(sent, body=b"{}").with_header("Origin", None).with_header("Cookie", None)


def test_several_losses_are_all_named(service: str) -> None:
    """Who repairs a proxy sees everything at once."""
    with lossy_proxy(service, without_several) as address:
        named = [line.split(":")[0] for line in examine(address).stdout.splitlines()]
    assert named == ["body", "header Cookie", "header Origin"]


def test_nothing_is_lost_without_a_defect(service: str) -> None:
    """The same proxy without a defect is found to be good."""
    with lossy_proxy(service, lambda sent: sent) as address:
        examined = examine(address)
    assert (examined.exit_code, examined.stdout) == (0, f"{address} forwards everything as it must.\n")


def test_nothing_behind_the_address() -> None:
    """An address where nothing listens is named as that, and the command fails."""
    examined = examine(f"http://127.0.0.1:{free_port()}")
    assert examined.exit_code == 1
    assert "does anything listen" in examined.stdout


@pytest.mark.parametrize("address", ["shop.example/waylink", "ftp://shop.example"])
def test_what_is_no_address(address: str) -> None:
    """What is no http address is refused as that."""
    examined = examine(address)
    assert examined.exit_code == 2
    assert "is not an http or https address" in examined.output

"""`waylink doctor proxy`: what it says of proxies that lose something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from backend.cli import main
from backend.web.sdk_files import build
from tests.processes.service_process import ServiceProcess, free_port
from tests.proxy.lossy_proxy import Answered, Defect, Forwarded, Harm, harmful_proxy, lossy_proxy

DIST = Path(__file__).parents[2] / "sdk_dist"


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
    "encodes the query twice": (
        lambda sent: replace(sent, path=sent.path.replace("%", "%25")), "query: it arrived changed."),
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


def only(ending: str, harm: Harm) -> Harm:
    """The harm, done to answers at paths that end so."""
    return lambda answer: harm(answer) if answer.path.endswith(ending) else answer


def uncompressed(answer: Answered) -> Answered:
    """What a proxy gives that unpacks answers."""
    if answer.headers.get("content-encoding") == "br":
        content = (DIST / "waylink.js").read_bytes()
        return replace(answer, content=content).with_header("content-encoding", None)
    return answer


def without_vary(answer: Answered) -> Answered:
    """What a cache gives that keeps one encoding for everybody."""
    if answer.status == 200:
        content = (DIST / "waylink.js.br").read_bytes()
        return replace(answer, content=content).with_header("Content-Encoding", "br")
    return answer


HARMS: dict[str, tuple[Harm, str]] = {
    "does not forward the script": (
        only(".js", lambda answer: replace(answer, status=404)),
        "/a/hello.js gives (404, text/javascript; charset=utf-8) is not it."),
    "gives a page for the script": (
        only(".js", lambda answer: answer.with_header("content-type", "text/html")),
        "/a/hello.js gives (200, text/html) is not it."),
    "redirects the script": (
        only(".js", lambda answer: replace(answer, status=302).with_header("Location", "https://links.example")),
        "The proxy answers with a redirect to https://links.example; it must forward."),
    "does not forward the sentences": (
        only(".json", lambda answer: replace(answer, status=404)),
        "With `debug` the console will have codes only."),
    **{
        f"does not forward the part for {part}": (
            only(f"-{part}.js", lambda answer: replace(answer, status=404)),
            f"/a/hello-{part}.js gives (404, text/javascript; charset=utf-8) is not it. Pages can't have")
        for part in ("links", "domains", "privacy")
    },
    "changes the script": (
        only(".js", lambda answer: replace(answer, content=answer.content + b"//")),
        "content: the script arrived changed."),
    "unpacks the script": (only(".js", uncompressed), "encoding: the script arrives uncompressed ("),
    "gives everybody the compressed one": (
        only(".js", without_vary), "encoding: who asks for the script as it is gets it compressed (br)"),
    "drops Vary": (
        only(".js", lambda answer: answer.with_header("vary", "Origin")),
        "header Vary: it does not name Accept-Encoding"),
    "drops ETag": (
        only(".js", lambda answer: answer.with_header("etag", None)), "header ETag: it arrived missing"),
    "drops If-None-Match": (
        only(".js", lambda answer: replace(answer, status=200)),
        "header If-None-Match: an unchanged script is sent again (200, not 304)."),
    "drops Cache-Control": (
        only(".js", lambda answer: answer.with_header("cache-control", None)),
        "header Cache-Control: it arrived without max-age."),
    "has the script kept for a month": (
        only(".js", lambda answer: answer.with_header("cache-control", "public, max-age=2592000")),
        "header Cache-Control: browsers keep the script for 30 days"),
    "does not forward calls to the name": (
        only("/hello", lambda answer: replace(answer, status=404)),
        "calls: a POST to /a/hello does not reach the service's batch endpoint (404)."),
    "answers calls itself": (
        only("/hello", lambda answer: replace(answer, content=b"{}")), "calls: a POST to /a/hello"),
    "does not forward what lies below the name": (
        only("b=c%20d&b", lambda answer: replace(answer, content=b"")), "is the path forwarded unchanged?"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMS)
def test_what_is_harmed_is_named(service: str, name: str) -> None:
    """Each harm to script, sentences or calls under a name of the site's is named, and the command fails."""
    harm, sentence = HARMS[name]
    with harmful_proxy(service, harm) as script:
        examined = examine(script)
    assert examined.exit_code == 1
    assert sentence in examined.stdout
    assert len(examined.stdout.splitlines()) == 1, examined.stdout


@pytest.mark.parametrize(
    "harmless",
    [
        lambda answer: answer,
        # As nginx does where it compresses by itself.
        lambda answer: (
            answer.with_header("etag", f"W/{answer.headers['etag']}") if "etag" in answer.headers else answer
        ),
    ],
    ids=["nothing", "a weak tag"],
)
def test_what_harms_nothing_is_well(service: str, harmless: Harm) -> None:
    """A proxy that hands out what the service gives is found to be good, also where it weakens the tag."""
    with harmful_proxy(service, harmless) as script:
        assert examine(script).stdout == f"{script} forwards everything as it must.\n"
        assert examine(f"{script}?v=2").exit_code == 0


def test_the_services_own_script_is_well(service: str) -> None:
    """Also the service itself can be examined, at its plain address and at that of its build."""
    for path in ("/waylink.js", f"/waylink-{build()}.js"):
        assert examine(service + path).stdout == f"{service}{path} forwards everything as it must.\n"


def without_several(sent: Forwarded) -> Forwarded:
    """What is left of a request by a proxy with three defects."""
    return replace(sent, body=b"{}").with_header("Origin", None).with_header("Cookie", None)


def test_several_losses_are_all_named(service: str) -> None:
    """Who repairs a proxy sees everything at once."""
    with lossy_proxy(service, without_several) as address:
        named = [line.split(":")[0] for line in examine(address).stdout.splitlines()]
    assert named == ["body", "header Cookie", "header Origin"]


@pytest.mark.parametrize("query", ["b=c%20d&b", "b=c+d&b="])
def test_nothing_is_lost_without_a_defect(service: str, query: str) -> None:
    """The same proxy without a defect is found to be good, also where it spells the query in another way."""
    with lossy_proxy(
        service, lambda sent: replace(sent, path=f"{sent.path.partition('?')[0]}?{query}")
    ) as address:
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

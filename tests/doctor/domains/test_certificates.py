"""Certificates, shown by a real TLS server. Those in tls/ are made for these tests only."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.doctor.domains.certificates import examine_certificate
from backend.domain.finding import Finding, Severity
from tests.processes.service_process import free_port

TLS = Path(__file__).parent / "tls"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def tls_context(certificate: str) -> ssl.SSLContext:
    """What a server shows this certificate by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / certificate, TLS / "server.key")
    context.set_ciphers("DEFAULT")
    return context


@asynccontextmanager
async def tls_server(certificate: str) -> AsyncIterator[int]:
    """A server that shows this certificate; gives its port."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0, ssl=tls_context(certificate))
    async with server:
        yield int(server.sockets[0].getsockname()[1])


async def examined(port: int, now: datetime = NOW) -> Finding:
    """What is found at this port of this machine."""
    return await examine_certificate("localhost", ["127.0.0.1"], now, ssl.create_default_context(), port)


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' certificate authority counts as trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "ca.pem"))


@pytest.mark.usefixtures("trusted")
async def test_a_good_certificate() -> None:
    """A trusted certificate of the host's own is well, with the day on which it ends."""
    async with tls_server("valid.pem") as port:
        finding = await examined(port)
    assert (finding.severity, finding.message) == (
        Severity.OK,
        "Its certificate is trusted until 2100-01-01.",
    )


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_that_ends_soon() -> None:
    """Two weeks before the end there is a warning."""
    async with tls_server("valid.pem") as port:
        finding = await examined(port, datetime(2099, 12, 25, tzinfo=UTC))
    assert (finding.severity, finding.message) == (
        Severity.WARNING,
        "Its certificate ends on 2100-01-01, in 7 days.",
    )


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("certificate", "words"), [("expired.pem", "expired"), ("other_host.pem", "not valid for 'localhost'")]
)
async def test_a_bad_certificate(certificate: str, words: str) -> None:
    """One that has ended, or is another host's, is an error that says so."""
    async with tls_server(certificate) as port:
        finding = await examined(port)
    assert finding.severity is Severity.ERROR
    assert words in finding.message


async def test_a_certificate_that_nobody_trusts() -> None:
    """Without its authority among the trusted ones, a certificate is refused."""
    async with tls_server("valid.pem") as port:
        finding = await examined(port)
    assert finding.severity is Severity.ERROR
    assert "Its certificate is refused" in finding.message


@pytest.mark.usefixtures("trusted")
def test_a_server_that_keeps_the_connection() -> None:
    """The command that asked keeps none open when it ends."""

    def shake_hands(listening: socket.socket) -> ssl.SSLSocket:
        return tls_context("valid.pem").wrap_socket(listening.accept()[0], server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(2) as threads:
        kept = threads.submit(shake_hands, listening)
        finding = threads.submit(asyncio.run, examined(listening.getsockname()[1])).result()
        kept.result().close()
    gc.collect()  # of what is left open Python warns now
    assert finding.severity is Severity.OK


async def test_no_tls_at_all() -> None:
    """A port that nothing listens on, or that does not speak TLS, is an error."""
    assert "There is no TLS" in (await examined(free_port())).message

    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
    async with server:
        port = int(server.sockets[0].getsockname()[1])
        finding = await examined(port)
    assert finding.severity is Severity.ERROR
    assert "There is no TLS" in finding.message

"""Checks the TLS certificate of a host as browsers and phones do."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from backend.domain.finding import Area, Finding, Findings, SetupStep

_findings = Findings(Area.DOMAINS, SetupStep.CERTIFICATE)
SECONDS = 10.0
# Certificates that are renewed automatically are renewed earlier than this before their end.
_RENEWAL_DUE = timedelta(days=14)
_ADVICE = (
    "The proxy before the service gets the certificate: there is nothing to enter for you. It may take a few "
    "minutes after the first visit. If it stays so, whoever runs the service looks into the proxy's log."
)


async def examine_certificate(
    host: str, addresses: Sequence[str], now: datetime, tls: ssl.SSLContext, port: int = 443
) -> Finding:
    """Whether the certificate at the first of these addresses is trusted, is for this host, and lasts.

    `tls` says which authorities are trusted.
    """
    try:
        ends = await _certificate_end(host, addresses[0], tls, port)
    except ssl.SSLCertVerificationError as error:
        return _findings.error(host, f"Its certificate is refused: {error.verify_message}.", _ADVICE)
    except TimeoutError:
        return _findings.error(host, f"Port {port} does not answer within {SECONDS:.0f} seconds.", _ADVICE)
    except OSError as error:
        return _findings.error(
            host, f"There is no TLS on port {port} ({type(error).__name__}: {error}).", _ADVICE
        )
    remaining = ends - now
    if remaining < _RENEWAL_DUE:
        return _findings.warning(
            host,
            f"Its certificate ends on {ends:%Y-%m-%d}, in {remaining.days} days.",
            "The proxy before the service renews it. Whoever runs the service looks why it has not.",
        )
    return _findings.ok(host, f"Its certificate is trusted until {ends:%Y-%m-%d}.")


async def _certificate_end(host: str, address: str, tls: ssl.SSLContext, port: int) -> datetime:
    async with asyncio.timeout(SECONDS):
        _, writer = await asyncio.open_connection(address, port, ssl=tls, server_hostname=host)
    try:
        certificate = writer.get_extra_info("peercert")
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    finally:
        writer.transport.abort()  # without waiting for the other side: its certificate is all that was asked

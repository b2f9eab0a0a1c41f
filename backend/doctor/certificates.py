"""Checks the TLS certificate of a host as browsers and phones do."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta

from backend.doctor.finding import Area, Finding, Findings

_findings = Findings(Area.DOMAINS)
SECONDS = 10.0
# Certificates that are renewed automatically are renewed earlier than this before their end.
_RENEWAL_DUE = timedelta(days=14)


async def examine_certificate(host: str, now: datetime, port: int = 443) -> Finding:
    """Whether the host's certificate is trusted, is for this host, and does not expire soon."""
    try:
        ends = await _certificate_end(host, port)
    except ssl.SSLCertVerificationError as error:
        return _findings.error(
            host,
            f"Its certificate is refused: {error.verify_message}.",
            "Have the proxy get a certificate for this domain, with its whole chain.",
        )
    except (OSError, TimeoutError) as error:
        return _findings.error(
            host,
            f"There is no TLS on port {port} ({type(error).__name__}: {error}).",
            "Let the proxy before the service listen there, with a certificate for this domain.",
        )
    remaining = ends - now
    if remaining < _RENEWAL_DUE:
        return _findings.warning(
            host,
            f"Its certificate ends on {ends:%Y-%m-%d}, in {remaining.days} days.",
            "Renew it, and look why that does not happen by itself.",
        )
    return _findings.ok(host, f"Its certificate is trusted until {ends:%Y-%m-%d}.")


async def _certificate_end(host: str, port: int) -> datetime:
    async with asyncio.timeout(SECONDS):
        _, writer = await asyncio.open_connection(host, port, ssl=ssl.create_default_context())
    try:
        certificate = writer.get_extra_info("peercert")
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), UTC)
    finally:
        writer.close()

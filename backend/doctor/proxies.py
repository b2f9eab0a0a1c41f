"""Checks the proxies between visitors and the service, by the headers that arrive."""

from __future__ import annotations

import secrets

import httpx

from backend.domain.finding import Area, Finding, Findings
from backend.settings import Settings

_findings = Findings(Area.PROXIES)
_PROBE = "/serviceCore/sdk/v1/probe/"
_READ_HEADER = "X-Forwarded-For"
_SET_IT = "Set it to the address or network from which the proxy calls the service, and restart the service."


async def examine_proxies(client: httpx.AsyncClient, settings: Settings) -> Finding | None:
    """Whether the service's settings name the proxies before it; None if the service does not answer."""
    try:
        answer = await client.post(f"{settings.base_url}{_PROBE}{secrets.token_hex(8)}", content=b"{}")
        told = answer.json()
        forwarded, is_trusted = set(told["forwarded"]), told["trusted"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
    trusted = ", ".join(settings.trusted_proxies)
    if _READ_HEADER in forwarded:
        return _known(trusted, is_trusted=is_trusted) if trusted else _unknown()
    if trusted:
        return _findings.warning(
            "WAYLINK_TRUSTED_PROXIES",
            f"{trusted} is trusted, but no {_READ_HEADER} arrives: visitors look as if they were the proxy.",
            f"Let the proxy send {_READ_HEADER}; if none stands before the service, unset the variable.",
        )
    if forwarded:
        return _findings.warning(
            settings.base_url,
            f"A proxy sends {', '.join(sorted(forwarded))}; the service reads {_READ_HEADER} only.",
            f"Let the proxy send {_READ_HEADER}, and set WAYLINK_TRUSTED_PROXIES to its address.",
        )
    return _findings.ok(
        settings.base_url, "No proxy shows itself by forwarding headers, and none is trusted."
    )


def _known(trusted: str, *, is_trusted: bool) -> Finding:
    if is_trusted:
        return _findings.ok(
            "WAYLINK_TRUSTED_PROXIES", f"A proxy sends {_READ_HEADER}, and it is trusted: {trusted}."
        )
    return _findings.warning(
        "WAYLINK_TRUSTED_PROXIES",
        f"A proxy sends {_READ_HEADER}, but is not what is trusted, {trusted}: every visitor gets the "
        "proxy's country, and all share one address's limits.",
        _SET_IT,
    )


def _unknown() -> Finding:
    return _findings.warning(
        "WAYLINK_TRUSTED_PROXIES",
        f"A proxy sends {_READ_HEADER}, but none is trusted: every visitor gets the proxy's country, "
        "and all share one address's limits.",
        _SET_IT,
    )

"""Checks the proxies between visitors and the service, by the headers that arrive."""

from __future__ import annotations

import secrets

import httpx

from backend.doctor.finding import Area, Finding, Findings
from backend.settings import Settings

_found = Findings(Area.PROXIES)
_PROBE = "/serviceCore/sdk/v1/probe/"
_READ = "X-Forwarded-For"


async def examine_proxies(client: httpx.AsyncClient, settings: Settings) -> Finding | None:
    """Whether the service's settings name the proxies before it; None if the service does not answer."""
    try:
        answer = await client.post(f"{settings.base_url}{_PROBE}{secrets.token_hex(8)}", content=b"{}")
        forwarded = set(answer.json()["forwarded"])
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return None
    trusted = ", ".join(settings.trusted_proxies)
    if _READ in forwarded:
        return _known(trusted) if trusted else _unknown()
    if trusted:
        return _found.warning(
            "WAYLINK_TRUSTED_PROXIES",
            f"{trusted} is trusted, but no {_READ} arrives: visitors look as if they were the proxy.",
            f"Let the proxy send {_READ}; if none stands before the service, unset the variable.",
        )
    if forwarded:
        return _found.warning(
            settings.base_url,
            f"A proxy sends {', '.join(sorted(forwarded))}; the service reads {_READ} only.",
            f"Let the proxy send {_READ}, and set WAYLINK_TRUSTED_PROXIES to its address.",
        )
    return _found.ok(settings.base_url, "No proxy shows itself by forwarding headers, and none is trusted.")


def _known(trusted: str) -> Finding:
    return _found.ok("WAYLINK_TRUSTED_PROXIES", f"A proxy sends {_READ}, and {trusted} is trusted.")


def _unknown() -> Finding:
    return _found.warning(
        "WAYLINK_TRUSTED_PROXIES",
        f"A proxy sends {_READ}, but none is trusted: every visitor gets the proxy's country, "
        "and all share one address's limits.",
        "Set it to the address or network from which the proxy calls the service.",
    )

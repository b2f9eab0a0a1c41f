"""`waylink doctor`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
from collections import Counter
from dataclasses import asdict
from typing import Any

import click
import httpx

from backend.cli.command import NoInstallation, settings_of_installation, utc_now
from backend.cli.options import json_option
from backend.cli.printable import printable
from backend.doctor.examination import Examination
from backend.doctor.finding import Area, Finding, Severity
from backend.domain.ids import OrgId
from backend.settings import InvalidSetting

PROBE = "/serviceCore/sdk/v1/probe/"
# Seconds within which the proxy and the service behind it must answer.
TIMEOUT = 10.0
HOST_PASSED_ON = (
    "Host: the service answered as for a short link. The proxy passes the Host header on; "
    "it must send the service's own host name."
)


@click.group(invoke_without_command=True)
@click.option("--org", "org_id", metavar="ID", help="Examine the domains and keys of this organization only.")
@json_option
@click.pass_context
def doctor(context: click.Context, org_id: OrgId | None, as_json: bool) -> None:
    """Find out why something does not work, and what to do.

    Examines settings, storage, domains (DNS, TLS, the files that phones fetch), proxies and keys, from this
    machine. Changes nothing. Exits with code 1 if there is an error.
    """
    if context.invoked_subcommand:
        return
    findings = asyncio.run(_examine(org_id, as_json))
    counts = Counter(finding.severity for finding in findings)
    if as_json:
        summary = {severity.value: counts[severity] for severity in Severity}
        click.echo(json.dumps({"findings": [asdict(each) for each in findings], "counts": summary}))
    else:
        click.echo(f"{counts[Severity.ERROR]} errors, {counts[Severity.WARNING]} warnings")
    if counts[Severity.ERROR]:
        raise SystemExit(1)


async def _examine(org_id: OrgId | None, quiet: bool) -> list[Finding]:
    """All findings. Each is printed as soon as it is found, unless `quiet`."""
    findings = []
    try:
        settings = settings_of_installation()
    except (InvalidSetting, NoInstallation) as error:
        findings = [Finding(Severity.ERROR, Area.CONFIGURATION, "settings", str(error), "Correct it.")]
        if not quiet:
            click.echo(_as_text(findings[0]))
        return findings
    async for finding in Examination(settings, os.environ, utc_now(), org_id).run():
        findings.append(finding)
        if not quiet:
            click.echo(_as_text(finding))
    return findings


def _as_text(finding: Finding) -> str:
    lines = [f"{finding.severity:<8} {finding.area:<14} {finding.subject}: {finding.message}"]
    if finding.advice:
        lines.append(f"{'':<24}-> {finding.advice}")
    return "\n".join(printable(line) for line in lines)


@doctor.command("proxy")
@click.argument("url")
@json_option
def check_proxy(url: str, as_json: bool) -> None:
    """Send a request through the first-party proxy at URL (the SDK's baseUrl), and report what it lost."""
    if not url.startswith(("http://", "https://")):
        raise click.BadParameter(f"{url!r} is not an http or https address", param_hint="URL")
    lost = _probe(url.rstrip("/"))
    if as_json:
        click.echo(json.dumps({"url": url, "ok": not lost, "lost": lost}))
    else:
        click.echo("\n".join(map(printable, lost)) or f"{url} forwards everything as it must.")
    if lost:
        raise SystemExit(1)


def _probe(url: str) -> list[str]:
    """Sentences on what the proxy at this URL lost of a request."""
    token = secrets.token_hex(8)
    body = f'{{"probe":"{token}","text":"Grüße, 世界"}}'.encode()
    headers = {
        "Content-Type": "text/plain;charset=UTF-8",
        "Cookie": f"probe={token}",
        "Origin": f"https://{token}.example",
        "Referer": f"https://{token}.example/page",
        "User-Agent": f"WaylinkDoctor/{token}",
        "X-Waylink-Probe": token,
    }
    try:
        response = httpx.post(
            f"{url}{PROBE}{token}/a?b=c%20d&b", content=body, headers=headers, timeout=TIMEOUT
        )
    except httpx.HTTPError as error:
        return [f"There is no answer ({type(error).__name__}): does anything listen at this address?"]
    try:
        arrived = response.json()
        return _lost(arrived, token, body, headers)
    except (ValueError, KeyError, TypeError, AttributeError):
        return [_no_probe_answer(response)]


def _no_probe_answer(response: httpx.Response) -> str:
    if response.status_code == 405 and "Short URLs" in response.text:
        return HOST_PASSED_ON
    if response.status_code == 404 and "html" in response.headers.get("Content-Type", ""):
        return HOST_PASSED_ON + " Or the path is not forwarded."
    if response.is_redirect:
        return f"The proxy answers with a redirect to {response.headers.get('Location')}; it must forward."
    return f"path: the answer ({response.status_code}) is not the service's; is the path forwarded unchanged?"


def _lost(arrived: dict[str, Any], token: str, body: bytes, headers: dict[str, str]) -> list[str]:
    lost = []
    if arrived["method"] != "POST":
        lost.append(f"method: a POST arrived as {arrived['method']}.")
    if arrived["path"] != f"{token}/a":
        lost.append("path: it arrived changed.")
    if arrived["query"] != "b=c%20d&b":
        lost.append("query: it arrived changed.")
    if arrived["body_sha256"] != hashlib.sha256(body).hexdigest():
        lost.append("body: it arrived changed.")
    for name, value in headers.items():
        if arrived["headers_sha256"].get(name) != hashlib.sha256(value.encode()).hexdigest():
            state = "changed" if name in arrived["headers_sha256"] else "missing"
            lost.append(f"header {name}: it arrived {state}.")
    return lost

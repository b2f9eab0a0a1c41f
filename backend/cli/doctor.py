"""`waylink doctor`."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from dataclasses import asdict

import click

from backend.cli.command import NoInstallation, settings_of_installation
from backend.cli.folder_owner import NotTheOwner
from backend.cli.options import json_option
from backend.cli.printable import printable
from backend.doctor import first_party_proxy
from backend.doctor.examination import Examination
from backend.domain.finding import Area, Finding, Severity
from backend.domain.ids import OrgId
from backend.settings import InvalidSetting
from backend.system.clock import utc_now


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
        click.echo(json.dumps({"findings": [asdict(finding) for finding in findings], "counts": summary}))
    else:
        click.echo(f"{counts[Severity.ERROR]} errors, {counts[Severity.WARNING]} warnings")
    if counts[Severity.ERROR]:
        raise SystemExit(1)


async def _examine(org_id: OrgId | None, quiet: bool) -> list[Finding]:
    """All findings. Each is printed as soon as it is found, unless `quiet`."""
    findings = []
    try:
        settings = settings_of_installation()
    except (InvalidSetting, NoInstallation, NotTheOwner) as error:
        findings = [Finding(Severity.ERROR, Area.CONFIGURATION, "settings", str(error), "Correct it.")]
        if not quiet:
            click.echo(_as_text(findings[0]))
        return findings
    async for finding in Examination(settings, os.environ, utc_now, org_id).run():
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
    """Ask the first-party proxy at URL for what the SDK needs, and report what it loses.

    URL is the address of the script on the site, such as https://shop.example/a/hello.js; or the SDK's
    baseUrl, where the script comes from elsewhere.
    """
    if not url.startswith(("http://", "https://")):
        raise click.BadParameter(f"{url!r} is not an http or https address", param_hint="URL")
    lost = first_party_proxy.examine(url)
    if as_json:
        click.echo(json.dumps({"url": url, "ok": not lost, "lost": lost}))
    else:
        click.echo("\n".join(map(printable, lost)) or f"{url} forwards everything as it must.")
    if lost:
        raise SystemExit(1)

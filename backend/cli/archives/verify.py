"""`waylink verify`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import click

from backend.archives.verification import Verification, verify_archive
from backend.cli.options import json_option
from backend.cli.printable import printable
from backend.cli.table import table
from backend.domain.fields.times.written_times import written_day
from backend.domain.ledger.statements import Statement
from backend.system.clock import utc_now

_KEY = re.compile(r"[0-9a-f]{64}")
_STATES = {
    "proved": "every click is there, as it was stored",
    "expired": "single clicks expired; each block's numbers are signed",
    "faded": "single clicks and blocks expired; each day's numbers are signed",
    "unreadable": "single clicks can't be read; each block's numbers are signed",
    "unsigned": "not signed yet: these may still change",
}


def _keys(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
    keys = tuple(text.lower() for text in texts)
    if not all(map(_KEY.fullmatch, keys)):
        raise click.BadParameter("must be 64 hexadecimal digits, as `waylink ledger key` prints them")
    return keys


def _day(_: click.Context, __: click.Parameter, text: str | None) -> date | None:
    if text is None:
        return None
    if day := written_day(text):
        return day
    raise click.BadParameter("must be a date, as 2026-01-31")


def _kept(_: click.Context, __: click.Parameter, path: Path | None) -> Sequence[Statement]:
    try:
        lines = path.read_text().splitlines() if path else []
        return [Statement.of(json.loads(line)) for line in lines if line.strip()]
    except (ValueError, TypeError, OSError) as error:
        message = f"must have a statement on each line, as `waylink ledger statements` prints them: {error}"
        raise click.BadParameter(message) from None


@click.command("verify")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--public-key", "keys", multiple=True, callback=_keys, metavar="KEY",
    help="Trust statements signed with this key only; may be given more than once.",
)  # fmt: skip
@click.option(
    "--kept", callback=_kept, metavar="STATEMENTS",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of statements that you were given before, one on each line.",
)  # fmt: skip
@click.option("--from", "first", callback=_day, help="Show totals from this day on, as 2026-01-31.")
@click.option("--to", "last", callback=_day, help="Show totals up to this day, which is included.")
@json_option
def verify(  # noqa: PLR0917 - click passes them by name
    file: Path,
    keys: tuple[str, ...],
    kept: Sequence[Statement],
    first: date | None,
    last: date | None,
    as_json: bool,
) -> None:
    """Check the clicks in FILE, which `waylink export` wrote: nothing taken out, put in or changed.

    Needs no database and no installation. Ends with 0 if nothing is wrong, else with 1. docs/verify.md says
    what it proves, and what it can't.
    """
    start, end = first or date.min, last or date.max
    if end < start:
        raise click.UsageError("--to must not be before --from.")
    with click.progressbar(length=file.stat().st_size, label="Checking", file=sys.stderr) as bar:
        verification = verify_archive(
            file, utc_now(), bar.update, keys=keys, kept=kept, first=start, last=end
        )
    shown = _result(verification, keys, start, end)
    click.echo(json.dumps(shown) if as_json else _text(shown, verification, trusts=bool(keys)))
    sys.exit(1 if verification.checked.findings else 0)


def _result(verification: Verification, keys: Sequence[str], first: date, last: date) -> dict[str, Any]:
    signed = [signed_statement.statement for signed_statement in verification.statements]
    return {
        "org_id": verification.header.org_id,
        "is_unchanged": not verification.checked.findings,
        "keys": sorted({statement.key for statement in signed}),
        "trusted_keys": list(keys),
        "findings": [
            asdict(finding) | {"meaning": finding.meaning} for finding in verification.checked.findings
        ],
        "amounts": {name: asdict(getattr(verification.checked, name)) for name in _STATES},
        "days": [
            {
                "day": statement.day,
                "blocks": statement.blocks,
                "requests": statement.clicks,
                "clicks": statement.counted,
                "root": statement.root,
                "key": statement.key,
            }
            for statement in signed
            if first.isoformat() <= statement.day <= last.isoformat()
        ],
        "links": [asdict(link) for link in verification.links],
    }


def _text(shown: dict[str, Any], verification: Verification, *, trusts: bool) -> str:
    """The verification's result as text, with the verdict in the last line."""
    amounts = [
        [name, amount["blocks"], amount["clicks"], amount["counted"], _STATES[name]]
        for name, amount in shown["amounts"].items()
        if amount["blocks"]
    ]
    days = [
        [day["day"], day["blocks"], day["requests"], day["clicks"], day["key"][:16]] for day in shown["days"]
    ]
    links = [
        [link["short_url"] or link["link_id"], link["requests"], link["clicks"]] for link in shown["links"]
    ]
    parts = [
        "By the day on which they were stored, as signed\n"
        + table(["day", "blocks", "requests", "clicks", "key"], days),
        "By link, of the single clicks that are there\n" + table(["link", "requests", "clicks"], links),
        "How far it goes\n" + table(["", "blocks", "requests", "clicks", "what it means"], amounts),
    ]
    findings = verification.checked.findings
    parts += [
        printable(f"{finding.where}: {finding.meaning} ({finding.kind}: {finding.details})")
        for finding in findings
    ]
    if not trusts and shown["keys"]:
        parts.append(
            "The signatures are by keys that this file names itself. Compare them with a key that you got "
            "elsewhere, or name it with --public-key:\n" + "\n".join(f"  {key}" for key in shown["keys"])
        )
    return "\n\n".join([*parts, _verdict(len(findings), has_signed_days=bool(shown["keys"]), trusts=trusts)])


def _verdict(findings: int, *, has_signed_days: bool, trusts: bool) -> str:
    if findings:
        return f"Wrong: {findings}, as told above."
    if not has_signed_days:
        return "Nothing is wrong, and nothing is proved: no day is signed yet."
    return "Nothing of the signed days was changed" + ("." if trusts else ", if you trust these keys.")

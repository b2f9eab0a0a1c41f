"""`waylink import`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from backend.cli.command import Result, stored, utc_now
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.apps import Apps
from backend.domain.ids import OrgId
from backend.imports.firebase_csv import FirebaseExport, read_firebase_export
from backend.imports.link_csv import SHORT_URL, read_rows
from backend.imports.link_import import ImportReport, LinkImport, RowOutcome
from backend.imports.report import write_left_out, write_refused
from backend.imports.row import COLUMNS, ImportRow
from backend.storage.apps import list_apps
from backend.storage.mongo import Database
from backend.storage.organizations import get_organization

ReadT = TypeVar("ReadT")


@click.group("import")
def import_links() -> None:
    """Import links from files of other services.

    Run an import again after an interruption or with corrected rows: links that exist already are not created
    twice.
    """


def import_options(command: Any) -> Any:
    """Add the options that all imports have: file, organization, dry run and report."""
    report_type = click.Path(dir_okay=False, writable=True, path_type=Path)
    for decorate in (
        click.option(
            "--report",
            "report_file",
            type=report_type,
            help="Where to write the refused rows and why. Default: FILE with .refused.csv at its end.",
        ),
        click.option("--dry-run", is_flag=True, help="Check every row, store nothing."),
        org_option,
        click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = decorate(command)
    return command


@import_links.command("csv")
@import_options
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Which column of FILE holds what, such as destination_url=long_url; then all others are left out. "
    "short_url=NAME stands for domain and selected_path. May be given more than once.",
)
@stored
async def import_csv(
    database: Database,
    file: Path,
    org_id: OrgId,
    *,
    dry_run: bool,
    report_file: Path | None,
    columns: tuple[str, ...],
) -> Result:
    """Create a link from each row of FILE.

    The first line names the columns: domain, destination_url and link_name, any other field of create-link,
    is_enabled and created_time. For files of other services, --column says what their columns contain.
    """
    await get_organization(database, org_id)
    named = _pairs(columns, "--column")
    unknown = [name for name in named if name not in {*COLUMNS, SHORT_URL}]
    if unknown:
        raise click.BadParameter(
            f"{unknown[0]} is none of {SHORT_URL}, {', '.join(COLUMNS)}", param_hint="--column"
        )
    rows = read_rows(file, named)
    return await _import(database, org_id, rows, file, dry_run=dry_run, report_file=report_file)


@import_links.command("firebase")
@import_options
@click.option(
    "--domain",
    "domains",
    multiple=True,
    metavar="OLD=NEW",
    help="Put the links of a domain that is not yours, such as shop.page.link, on one that is. "
    "May be given more than once.",
)
@stored
async def import_firebase(
    database: Database,
    file: Path,
    org_id: OrgId,
    *,
    dry_run: bool,
    report_file: Path | None,
    domains: tuple[str, ...],
) -> Result:
    """Create a link from each row of FILE, a CSV export of Firebase Dynamic Links.

    Links keep domain, path, destination, fallbacks, social tags and UTM; archived ones are disabled. What has
    no place here is written to a file beside FILE.
    """
    await get_organization(database, org_id)
    moved = _pairs(domains, "--domain")
    export = read_firebase_export(file, moved)
    result = await _import(database, org_id, export.rows, file, dry_run=dry_run, report_file=report_file)
    await _tell_missing_apps(database, org_id, export)
    return result


async def _import(
    database: Database,
    org_id: OrgId,
    rows: Sequence[ImportRow],
    file: Path,
    *,
    dry_run: bool,
    report_file: Path | None,
) -> Result:
    links = LinkImport(database, org_id, utc_now(), dry_run=dry_run)
    with click.progressbar(length=len(rows), label="Importing", file=sys.stderr) as bar:
        report = await links.run(rows, bar.update)
    try:
        result = _result(report, report_file or file.with_suffix(".refused.csv"))
        left_out = _left_out(rows, file.with_suffix(".left-out.csv"))
    except OSError as error:
        raise click.ClickException(
            f"The report can't be written: {error}. Mend that and import again; no link is made twice."
        ) from None
    return result | left_out | {"dry_run": dry_run}


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in texts)
    if not all(pairs) or not all(pairs.values()) or len(pairs) < len(texts):
        raise click.BadParameter("must be NAME=VALUE, each name once", param_hint=option)
    return pairs


def _result(report: ImportReport, report_file: Path) -> Result:
    result: Result = {outcome.value: report.counts[outcome] for outcome in RowOutcome}
    if report.refused:
        write_refused(report_file, report.refused)
        result["report"] = str(report_file)
        for row, reason in report.refused[:5]:
            click.echo(printable(f"line {row.line}: {reason}"), err=True)
    return result


def _left_out(rows: Sequence[ImportRow], path: Path) -> Result:
    if not any(row.left_out for row in rows):
        return {}
    return {"left_out": write_left_out(path, rows), "left_out_report": str(path)}


async def _tell_missing_apps(database: Database, org_id: OrgId, export: FirebaseExport) -> None:
    known = await list_apps(database, org_id)
    for domain, named in export.apps.items():
        if sentence := named.missing(domain, org_id, known.get(domain, Apps())):
            click.echo(printable(sentence), err=True)

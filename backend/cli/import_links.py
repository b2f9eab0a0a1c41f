"""`waylink import`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from backend.cli.command import Result, org_option, stored, utc_now
from backend.imports.link_csv import Row, UnreadableCsv, read_rows, write_report
from backend.imports.link_import import ImportReport, LinkImport, Outcome
from backend.storage.mongo import Database
from backend.storage.organizations import get_organization


@click.group("import")
def import_links() -> None:
    """Links from elsewhere."""


@import_links.command("csv")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@org_option
@click.option("--dry-run", is_flag=True, help="Check every row, store nothing.")
@click.option(
    "--report",
    "report_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Where to write the refused rows with their reasons. Default: FILE with .refused.csv at its end.",
)
@stored
async def import_csv(
    database: Database, file: Path, org_id: str, dry_run: bool, report_file: Path | None
) -> Result:
    """Make a link of each row of FILE.

    The first line names the columns: domain, destination_url and link_name, and any other field of
    create-link. Run it again after an interruption, or with corrected rows: links that are there already are
    not made twice.
    """
    await get_organization(database, org_id)
    rows = _rows(file)
    links = LinkImport(database, org_id, utc_now(), dry_run=dry_run)
    with click.progressbar(length=len(rows), label="Importing", file=sys.stderr) as bar:
        report = await links.run(rows, bar.update)
    return _result(report, dry_run, report_file or file.with_suffix(".refused.csv"))


def _rows(file: Path) -> list[Row]:
    try:
        return read_rows(file)
    except UnreadableCsv as error:
        raise click.ClickException(str(error)) from None


def _result(report: ImportReport, dry_run: bool, report_file: Path) -> Result:
    result: Result = {outcome.value: report.counts[outcome] for outcome in Outcome}
    if report.refused:
        write_report(report_file, report.refused)
        result["report"] = str(report_file)
        for row, reason in report.refused[:5]:
            click.echo(f"line {row.line}: {reason}", err=True)
    return result | {"dry_run": dry_run}

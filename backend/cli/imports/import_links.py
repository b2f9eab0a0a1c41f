"""`waylink import`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.imports.report import import_result, missing_domain, shown_result
from backend.cli.links.policies import link_policies
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.domain.accounts.apps import Apps
from backend.domain.ids import OrgId
from backend.imports.cells import SHORT_URL
from backend.imports.link_csv import read_rows
from backend.imports.link_import import ImportReport, LinkImport
from backend.imports.other_services.firebase_csv import FirebaseExport, read_firebase_export
from backend.imports.other_services.preset_rows import read_preset
from backend.imports.other_services.presets import PRESETS, Preset
from backend.imports.report import write_left_out, write_refused
from backend.imports.row import COLUMNS, ImportRow
from backend.storage.accounts.apps import list_apps
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

# A file of another service may name thousands of domains.
_MOST_DOMAINS_PRINTED = 5


@click.group("import")
def import_links() -> None:
    """Import links from files of other services.

    Run an import again after an interruption or with corrected rows: links that exist already are not created
    twice.
    """


def _pairs(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    pairs = dict(text.partition("=")[::2] for text in texts)
    if not all(pairs) or not all(pairs.values()) or len(pairs) < len(texts):
        raise click.BadParameter("must be NAME=VALUE, each name once")
    return pairs


def _pairs_named(*names: str) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], dict[str, str]]:
    """As `_pairs`, where each name must be one of these."""

    def pairs_named(
        context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
    ) -> dict[str, str]:
        pairs = _pairs(context, parameter, texts)
        for name in pairs:
            if name not in names:
                raise click.BadParameter(f"{name} is none of {', '.join(names)}")
        return pairs

    return pairs_named


def import_options(command: Any) -> Any:
    """Add the options that all imports have: file, organization, dry run, report and moved domains."""
    report_type = click.Path(dir_okay=False, writable=True, path_type=Path)
    for decorate in (
        click.option(
            "--report",
            "report_file",
            type=report_type,
            help="Where to write the refused rows and why. Default: FILE with .refused.csv at its end.",
        ),
        click.option("--dry-run", is_flag=True, help="Check every row, store nothing."),
        click.option(
            "--domain",
            "domains",
            multiple=True,
            metavar="OLD=NEW",
            callback=_pairs,
            help="Put the links of a domain that is not yours, such as shop.page.link, on one that is. "
            "May be given more than once.",
        ),
        org_option,
        click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = decorate(command)
    return command


default_option = click.option(
    "--default",
    "defaults",
    multiple=True,
    metavar="OURS=TEXT",
    callback=_pairs_named(*COLUMNS),
    help="What a column of ours holds where the row has nothing for it, such as 'link_name={path}': {path} "
    "and every column of ours or of FILE stand for the row's own. May be given more than once.",
)


@import_links.command("csv")
@import_options
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="OURS=THEIRS",
    callback=_pairs_named(SHORT_URL, *COLUMNS),
    help="Which column of FILE holds what, such as destination_url=long_url; then all others are left out. "
    "short_url=NAME stands for domain and selected_path, is_disabled=NAME for the opposite of is_enabled. "
    "May be given more than once.",
)
@default_option
@stored_and_shown(shown_result)
async def import_csv(  # noqa: PLR0917 - click passes them by name
    database: Database,
    file: Path,
    org_id: OrgId,
    domains: dict[str, str],
    columns: dict[str, str],
    defaults: dict[str, str],
    **options: Any,
) -> CommandResult:
    """Create a link from each row of FILE.

    The first line names the columns: domain, destination_url and link_name, any other field of create-link,
    tags (with commas between them), is_enabled or is_disabled, is_archived, created_time, imported_clicks and
    imported_from. For files of other services, --column says what their columns contain.
    """
    await get_organization(database, org_id)
    return await _import(database, org_id, read_rows(file, columns, defaults, domains), file, **options)


@import_links.command("firebase")
@import_options
@stored_and_shown(shown_result)
async def import_firebase(
    database: Database, file: Path, org_id: OrgId, domains: dict[str, str], **options: Any
) -> CommandResult:
    """Create a link from each row of FILE, a CSV export of Firebase Dynamic Links.

    Links keep domain, path, destination, fallbacks, social tags and UTM; archived ones stay enabled, and have
    the tag `archived`. What has no place here is written to a file beside FILE.
    """
    await get_organization(database, org_id)
    export = read_firebase_export(file, domains)
    result = await _import(database, org_id, export.rows, file, **options)
    await _print_missing_apps(database, org_id, export)
    return result


def _preset_command(name: str, preset: Preset) -> click.Command:
    """`waylink import NAME`, for the files of a service."""

    @import_options
    @default_option
    @stored_and_shown(shown_result)
    async def import_preset(
        database: Database,
        file: Path,
        org_id: OrgId,
        domains: dict[str, str],
        defaults: dict[str, str],
        **options: Any,
    ) -> CommandResult:
        await get_organization(database, org_id)
        rows = read_preset(file, preset, domains, defaults)
        return await _import(database, org_id, rows, file, **options)

    return click.command(
        name,
        help=f"Create a link from each link of {preset.service} in FILE: JSON of its API, or CSV.\n\n"
        "Links keep path, destination, name, state, time of creation and, as history, clicks, where FILE has "
        "them. What has no place here is written to a file beside FILE.",
    )(import_preset)


for _name, _preset in PRESETS.items():
    import_links.add_command(_preset_command(_name, _preset))


async def _import(
    database: Database,
    org_id: OrgId,
    rows: Sequence[ImportRow],
    file: Path,
    *,
    dry_run: bool,
    report_file: Path | None,
) -> CommandResult:
    policies = link_policies(database)
    links = LinkImport(database, org_id, utc_now(), dry_run=dry_run, policies=policies)
    with click.progressbar(length=len(rows), label="Importing", file=sys.stderr) as bar:
        report = await links.run(rows, bar.update)
    try:
        files = _write_files(report, rows, report_file or file.with_suffix(".refused.csv"), file)
    except OSError as error:
        raise click.ClickException(
            f"The report can't be written: {error}. Mend that and import again; no link is made twice."
        ) from None
    for domain in list(report.missing_domains)[:_MOST_DOMAINS_PRINTED]:
        click.echo(printable(missing_domain(domain, org_id)), err=True)
    return import_result(report, rows, dry_run=dry_run) | files


def _write_files(report: ImportReport, rows: Sequence[ImportRow], refused: Path, file: Path) -> CommandResult:
    """Write the files that an import leaves, where there is something for them; their names."""
    written: CommandResult = {}
    if report.refused:
        write_refused(refused, report.refused)
        written["report"] = str(refused)
    if any(row.left_out for row in rows):
        left_out = file.with_suffix(".left-out.csv")
        write_left_out(left_out, rows)
        written["left_out_report"] = str(left_out)
    return written


async def _print_missing_apps(database: Database, org_id: OrgId, export: FirebaseExport) -> None:
    apps_by_domain = await list_apps(database, org_id)
    for domain, named in export.apps.items():
        if sentence := named.missing(domain, org_id, apps_by_domain.get(domain, Apps())):
            click.echo(printable(sentence), err=True)

"""`waylink import`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from backend.cli.command import CommandResult, stored_and_shown
from backend.cli.links.policies import link_policies
from backend.cli.options import org_option
from backend.cli.printable import printable
from backend.cli.table import table
from backend.domain.accounts.apps import Apps
from backend.domain.ids import OrgId
from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.imports.cells import SHORT_URL
from backend.imports.link_csv import read_rows
from backend.imports.link_import import ImportReport, LinkImport, RowOutcome
from backend.imports.other_services.firebase_csv import FirebaseExport, read_firebase_export
from backend.imports.other_services.preset_rows import read_preset
from backend.imports.other_services.presets import PRESETS, Preset
from backend.imports.report import write_left_out, write_refused
from backend.imports.row import ARCHIVED_TAG, COLUMNS, ImportRow
from backend.storage.accounts.apps import list_apps
from backend.storage.accounts.organizations import get_organization
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now

_MOST_REASONS = 20
_MOST_LINES = 8
_MOST_COLUMNS = 40
_MOST_TAGS = 20


def import_result(report: ImportReport, rows: Sequence[ImportRow], *, dry_run: bool) -> CommandResult:
    """How many rows had which outcome, why rows were refused, and which columns were not taken over.

    `archived` are the links that the other service hid from its lists, and that are enabled here.

    A dry run has `would_be_created` in place of `created`.
    """
    reasons = _reasons(report)
    return {
        "would_be_created" if dry_run else "created": report.counts[RowOutcome.CREATED],
        "already_there": report.counts[RowOutcome.ALREADY_THERE],
        "refused": report.counts[RowOutcome.REFUSED],
        "dry_run": dry_run,
        "refused_because": reasons[:_MOST_REASONS],
        "more_reasons": max(0, len(reasons) - _MOST_REASONS),
        "missing_domains": [
            {"domain": name, "rows": count}
            for name, count in report.missing_domains.most_common(_MOST_REASONS)
        ],
        "new_tags": report.new_tags,
        "archived": sum(result.row.is_archived for result in report.results if not result.errors),
        "not_taken_over": _not_taken_over(rows)[:_MOST_COLUMNS],
    }


def shown_result(result: CommandResult) -> str:
    """The result as people read it."""
    counts = [
        [name.replace("_", " "), result[name]]
        for name in ("created", "would_be_created", "already_there", "refused")
        if name in result
    ]
    parts = ["Dry run: nothing was stored."] if result["dry_run"] else []
    parts.append(table(["links", "rows"], counts))
    if result["refused_because"]:
        parts.append(
            table(
                ["refused because", "rows", "lines"],
                [[reason["reason"], reason["rows"], _lines(reason)] for reason in result["refused_because"]],
            )
        )
    if result["more_reasons"]:
        parts.append(f"And {result['more_reasons']} other reasons.")
    if result["archived"]:
        parts.append(
            f"Archived at the other service, where they go on working: {result['archived']:,}. Here they are "
            f"enabled as well, and have the tag `{ARCHIVED_TAG}`."
        )
    if result["new_tags"]:
        parts.append(_new_tags(result))
    if result["not_taken_over"]:
        parts.append(
            table(
                ["not taken over", "rows", "because"],
                [[column["column"], column["rows"], column["reason"]] for column in result["not_taken_over"]],
            )
        )
    if "report" in result:
        parts.append(f"Refused rows, to correct and to import with `waylink import csv`: {result['report']}")
    if "left_out_report" in result:
        parts.append(f"What was not taken over: {result['left_out_report']}")
    return "\n\n".join(parts)


def _new_tags(result: CommandResult) -> str:
    names = result["new_tags"]
    more = f" and {len(names) - _MOST_TAGS:,} more" if len(names) > _MOST_TAGS else ""
    beginning = "Tags that would be made" if result["dry_run"] else "Tags that were made"
    return f"{beginning}: {', '.join(names[:_MOST_TAGS])}{more}"


def missing_domain(domain: str, org_id: OrgId) -> str:
    """A sentence that says what to do about a domain that rows name and the organization lacks."""
    try:
        name = normalize_host(domain)
    except InvalidHostName:
        return f"{domain} can be no link domain."
    if name.endswith(".page.link"):
        return f"{name} is Google's: put its links on a domain of yours with --domain {name}=DOMAIN"
    command = f"waylink domain add {name} --org {org_id}"
    return f"{name} is no link domain of the organization. If it is yours: {command}"


def _reasons(report: ImportReport) -> list[dict[str, Any]]:
    """The reasons of refusals, the most frequent first, each with its first lines."""
    lines_of_reason: dict[str, list[int]] = {}
    for row, reason in report.refused:
        lines_of_reason.setdefault(reason, []).append(row.line)
    frequent = sorted(lines_of_reason.items(), key=lambda item: -len(item[1]))
    return [
        {"reason": reason, "rows": len(lines), "lines": lines[:_MOST_LINES]} for reason, lines in frequent
    ]


def _lines(reason: dict[str, Any]) -> str:
    more = reason["rows"] - len(reason["lines"])
    return ", ".join(map(str, reason["lines"])) + (" …" if more else "")


def _not_taken_over(rows: Sequence[ImportRow]) -> list[dict[str, Any]]:
    """The columns with values that were left out, the reason, and how many rows have one."""
    row_counts: dict[tuple[str, str], int] = {}
    for row in rows:
        for left_out in row.left_out:
            place = (left_out.column, left_out.reason)
            row_counts[place] = row_counts.get(place, 0) + 1
    return [
        {"column": column, "rows": count, "reason": reason} for (column, reason), count in row_counts.items()
    ]


# A file of another service may name thousands of domains.
_MOST_DOMAINS_PRINTED = 5


@click.group("import")
def import_links() -> None:
    """Import links from files of other services.

    Run an import again after an interruption or with corrected rows: links that exist already are not created
    twice. Exits with code 3 if rows were refused; the others are imported all the same.
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
            help="Where to write the refused rows and why. Default: FILE with .refused.csv at its end. If "
            "there is another file of that name, the new one gets a number.",
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
@stored_and_shown(shown_result, refuses_rows=True)
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
@stored_and_shown(shown_result, refuses_rows=True)
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
    @stored_and_shown(shown_result, refuses_rows=True)
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
        files = _write_files(report, rows, report_file or _beside(file, ".refused.csv"), file)
    except OSError as error:
        raise click.ClickException(
            f"The report can't be written: {error}. Mend that and import again; no link is made twice."
        ) from None
    for domain in list(report.missing_domains)[:_MOST_DOMAINS_PRINTED]:
        click.echo(printable(missing_domain(domain, org_id)), err=True)
    return {**import_result(report, rows, dry_run=dry_run), **files}


def _write_files(
    report: ImportReport, rows: Sequence[ImportRow], refused: Path, file: Path
) -> dict[str, str]:
    """Write the files that an import leaves, where there is something for them; their names."""
    written: dict[str, str] = {}
    if report.refused:
        written["report"] = str(write_refused(refused, report.refused))
    if any(row.left_out for row in rows):
        written["left_out_report"] = str(write_left_out(_beside(file, ".left-out.csv"), rows))
    return written


def _beside(file: Path, ending: str) -> Path:
    """The name of a file beside the imported one, also where stdin is that file; of what was piped in, one in
    the current folder."""
    read = file.resolve() if file.is_relative_to("/dev") else file
    return read.with_suffix(ending) if read.is_file() else Path(file.with_suffix(ending).name)


async def _print_missing_apps(database: Database, org_id: OrgId, export: FirebaseExport) -> None:
    apps_by_domain = await list_apps(database, org_id)
    for domain, named in export.apps.items():
        if sentence := named.missing(domain, org_id, apps_by_domain.get(domain, Apps())):
            click.echo(printable(sentence), err=True)

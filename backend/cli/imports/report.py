"""The result that `waylink import` prints: as an object for programs, and as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.cli.command import CommandResult
from backend.cli.table import table
from backend.domain.ids import OrgId
from backend.domain.web.host_names import InvalidHostName, normalize_host
from backend.imports.link_import import ImportReport, RowOutcome
from backend.imports.row import ARCHIVED_TAG, ImportRow

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

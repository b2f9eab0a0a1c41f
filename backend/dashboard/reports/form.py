"""The forms that make and change a report. Times are typed in the time zone of the browser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from backend.dashboard.analytics.time_zone import zone_named, zone_of_browser
from backend.dashboard.frame.form import field, form
from backend.dashboard.reports.saved_view import MEASURES, read_json
from backend.domain.analytics.input import UTC_ZONE
from backend.domain.analytics.query import Measure
from backend.domain.errors import FieldError
from backend.domain.fields.rules import parse_fields
from backend.domain.reports.input import REPORT_FIELDS
from backend.domain.reports.report import Report

Fields = dict[str, str]
Problems = dict[str, str]
MEASURE_PREFIX = "measure-"
_ZONE, _QUERY = "zone", "query"
_SENT = ("name", "expires_at", "embed_origins", "shows_revenue", _ZONE)
_TIME_FORMAT = "%Y-%m-%dT%H:%M"


def new_fields(name: str, query: str, by: str, measures: Sequence[Measure]) -> Fields:
    """The text of each field for a new report of a view, whose query is given as JSON."""
    ticks = {f"{MEASURE_PREFIX}{measure}": "on" for measure in measures}
    return {**_empty(), "name": name, _QUERY: query, "by": by, **ticks}


def fields_of(report: Report) -> Fields:
    """The text of each field for an existing one. A password is never shown, only that there is one."""
    end = report.expires_at
    return _empty() | {
        "name": report.name,
        "shows_revenue": "on" if report.shows_revenue else "",
        "embed_origins": "\n".join(report.embed_origins),
        "expires_at": end.astimezone(zone_of_browser()).strftime(_TIME_FORMAT) if end else "",
        "has_password": "true" if report.password_hash else "",
    }


def sent_fields(report: Report | None = None) -> Fields:
    """The text of each field from the current request, to be shown again; `report` is the one to change."""
    sent = {name: field(name) for name in _SENT}
    if report:
        return sent | {"has_password": "true" if report.password_hash else ""}
    ticks = {name: field(name) for name in (f"{MEASURE_PREFIX}{measure}" for measure in MEASURES)}
    return sent | {_QUERY: field(_QUERY), "by": field("by")} | ticks


def read_report(fields: Fields, problems: Problems) -> dict[str, Any]:
    """The report's fields, parsed, as far as the form has them. What is wrong is added to `problems`.

    An empty password leaves the one that there is, unless its removal is asked for.
    """
    values: dict[str, object] = {
        "name": fields["name"],
        "shows_revenue": bool(fields["shows_revenue"]),
        "embed_origins": [line.strip() for line in fields["embed_origins"].split("\n") if line.strip()],
        "expires_at": _time(fields),
    }
    if _QUERY in fields:
        values[_QUERY] = _query(fields)
    if form().get("remove_password"):
        values["password"] = None
    elif password := form().get("password"):
        values["password"] = password
    errors: list[FieldError] = []
    parsed = parse_fields(REPORT_FIELDS, values, errors)
    add_problems(errors, problems)
    return parsed


def add_problems(errors: Iterable[FieldError], problems: Problems) -> None:
    """Add each error to `problems`, by the name of the form's field. The first error of a field stays."""
    names = {"query.measures": "measures", "query.group_by": "by"}
    for error in errors:
        name = names.get(error.field, error.field)
        rule = "must be a date and a time" if name == "expires_at" and "ISO" in error.rule else error.rule
        if name.startswith(_QUERY):
            name, rule = "by", f"can't be shown: {error}"
        problems.setdefault(name, rule)


def _empty() -> Fields:
    return {**dict.fromkeys(_SENT, ""), _ZONE: zone_of_browser().key, "has_password": ""}


def _query(fields: Fields) -> dict[str, Any]:
    """The query of the view with the columns and rows that were chosen."""
    measures = [measure.value for measure in MEASURES if fields[f"{MEASURE_PREFIX}{measure}"]]
    by = [fields["by"]] if fields["by"] else []
    return {**read_json(fields[_QUERY]), "measures": measures, "group_by": by}


def _time(fields: Fields) -> str | None:
    """The end with its zone, None for none; the text itself if it is no time."""
    text = fields["expires_at"]
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=_zone(fields)).isoformat()
    except (ValueError, OverflowError):
        return text


def _zone(fields: Fields) -> ZoneInfo:
    return zone_named(fields[_ZONE]) or UTC_ZONE

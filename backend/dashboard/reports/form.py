"""The forms that make and change a report. Times are typed in the time zone of the browser."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from backend.dashboard.analytics.time_zone import with_zone, zone_of_browser, zone_of_form
from backend.dashboard.cohorts.triangle import SHOWN
from backend.dashboard.frame.form import field, form
from backend.dashboard.reports.saved_view import MEASURES, read_json
from backend.domain.analytics.cohorts.cells import CellFigure
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import QueryField
from backend.domain.errors import FieldError
from backend.domain.fields.rules import parse_fields
from backend.domain.reports.input import REPORT_FIELDS
from backend.domain.reports.links import ListFigure
from backend.domain.reports.live import LiveFigure
from backend.domain.reports.report import Report
from backend.domain.reports.views import ViewKind

Fields = dict[str, str]
Problems = dict[str, str]
MEASURE_PREFIX, TABLE_PREFIX = "measure-", "table-"
_ZONE, _QUERY, _KIND, _HAS_PASSWORD = "zone", "query", "kind", "has_password"
# What only the form of a new report has, besides its ticks. `chart` is the figure that a chart shows.
_NEW = (_KIND, _QUERY, "by", "chart")
_SENT = ("name", "expires_at", "embed_origins", "shows_revenue", "shows_notes", _ZONE)
# What can be chosen to be shown, and what it is called; of kinds that are not here: MEASURES.
_FIGURES: Mapping[ViewKind, Mapping[str, str]] = {
    ViewKind.COHORTS: {figure.value: words for figure, words in SHOWN.items()},
    ViewKind.LINKS: {figure.value: figure.measure.label for figure in ListFigure},
    ViewKind.LIVE: {figure.value: figure.measure.label for figure in LiveFigure},
}
_ALL_FIGURES = {measure.value: measure.label for measure in MEASURES}
# They only say how others are shown: a change leaves a password as it is.
NOT_STORED = (_ZONE, _HAS_PASSWORD)
_TIME_FORMAT = "%Y-%m-%dT%H:%M"


def figures_to_choose(kind: ViewKind) -> Mapping[str, str]:
    """What may be chosen to be shown, and what it is called."""
    return _FIGURES.get(kind, _ALL_FIGURES)


def new_fields(
    kind: ViewKind,
    name: str,
    query: Mapping[str, Any],
    *,
    by: str = "",
    measures: Sequence[Measure | CellFigure | ListFigure | LiveFigure] = (),
    tables: Iterable[QueryField] = (),
) -> Fields:
    """The text of each field for a new report of a view with this query. The first measure is charted."""
    ticks = dict.fromkeys([f"{MEASURE_PREFIX}{measure}" for measure in measures], "on")
    ticks |= dict.fromkeys([f"{TABLE_PREFIX}{table}" for table in tables], "on")
    chart = measures[0].value if measures else ""
    new = {_KIND: kind.value, "name": name, _QUERY: json.dumps(query), "by": by, "chart": chart}
    return {**_empty(), **new, **ticks}


def fields_of(report: Report) -> Fields:
    """The text of each field for an existing one. A password is never shown, only that there is one."""
    end, zone = report.expires_at, zone_of_form(_ZONE)
    return _empty() | {
        "name": report.name,
        "shows_revenue": "on" if report.shows_revenue else "",
        "shows_notes": "on" if report.shows_notes else "",
        "embed_origins": "\n".join(report.embed_origins),
        "expires_at": end.astimezone(zone).strftime(_TIME_FORMAT) if end else "",
        _HAS_PASSWORD: "true" if report.password_hash else "",
        _ZONE: zone.key,
    }


def sent_fields(report: Report | None = None) -> Fields:
    """The text of each field from the current request, to be shown again; `report` is the one to change."""
    sent = {name: field(name) for name in _SENT}
    if report:
        return sent | {_HAS_PASSWORD: "true" if report.password_hash else ""}
    names = {name for figures in (_ALL_FIGURES, *_FIGURES.values()) for name in figures}
    ticks = [f"{MEASURE_PREFIX}{name}" for name in names]
    ticks += [name for name in form() if name.startswith(TABLE_PREFIX)]
    return sent | {name: field(name) for name in (*_NEW, *ticks)}


def read_report(fields: Fields, problems: Problems) -> dict[str, Any]:
    """The report's fields, parsed, as far as the form has them. What is wrong is added to `problems`.

    An empty password leaves the one that there is, unless its removal is asked for.
    """
    values: dict[str, object] = {
        "name": fields["name"],
        "shows_revenue": bool(fields["shows_revenue"]),
        "shows_notes": bool(fields["shows_notes"]),
        "embed_origins": [line.strip() for line in fields["embed_origins"].split("\n") if line.strip()],
        "expires_at": _time(fields),
    }
    if _QUERY in fields:
        values |= {_KIND: fields[_KIND], _QUERY: _query(fields)}
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
    names = {"query.measures": "measures", "query.group_by": "by", _KIND: "name"}
    for error in errors:
        name = names.get(error.field, error.field)
        rule = "must be a date and a time" if name == "expires_at" and "ISO" in error.rule else error.rule
        if name.startswith(_QUERY):
            name, rule = "by", f"can't be shown: {error}"
        problems.setdefault(name, rule)


def _empty() -> Fields:
    return {**dict.fromkeys(_SENT, ""), _ZONE: zone_of_browser().key, _HAS_PASSWORD: ""}


def _query(fields: Fields) -> dict[str, Any]:
    """The query of the view with the columns and rows, or figures and tables, that were chosen."""
    query = dict(read_json(fields[_QUERY]))
    kind = fields[_KIND]
    if kind not in {ViewKind.TABLE, ViewKind.OVERVIEW, *_FIGURES}:
        return query
    measures = [name for name in figures_to_choose(ViewKind(kind)) if fields[f"{MEASURE_PREFIX}{name}"]]
    if kind in _FIGURES:
        return query | {"measures": measures}
    if kind == ViewKind.TABLE:
        return query | {"measures": measures, "group_by": [fields["by"]] if fields["by"] else []}
    if str(query.get("order_by", "")).rpartition(".")[2].removeprefix("-") not in measures:
        query.pop("order_by", None)
    ticked = [name for name in fields if name.startswith(TABLE_PREFIX) and fields[name]]
    tables = [name.removeprefix(TABLE_PREFIX) for name in ticked]
    measures.sort(key=lambda name: name != fields["chart"])
    return query | {"measures": measures, "group_by": tables}


def _time(fields: Fields) -> str | None:
    """The end with its zone, None for none; the text itself if it is no time."""
    return with_zone(fields["expires_at"], zone_of_form(_ZONE)) if fields["expires_at"] else None

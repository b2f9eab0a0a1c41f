"""Answers of analytics as CSV files, whole, with exact amounts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from quart import Response

from backend.dashboard.links.own_link import short_url_of
from backend.domain.analytics_answer import AnalyticsAnswer, Row, Values
from backend.domain.analytics_query import Field, Measure
from backend.domain.ids import LinkId
from backend.domain.spreadsheets import inert


def csv_response(found: AnalyticsAnswer, name: str) -> Response:
    """The answer's rows as a file of this name."""
    written = io.StringIO()
    writer = csv.writer(written)
    currencies = sorted({each for row in found.rows for each in _currencies(row)})
    by = found.query.group_by[0]
    columns = [column for each in found.query.measures for column in _columns(each, currencies)]
    of_link = ["link_name", "short_url"] if by is Field.LINK else []
    before = [f"previous_{each}" for each in columns] if found.query.compare else []
    writer.writerow([by.value, *of_link, *columns, *before])
    for row in found.rows:
        cells = [*_cells(row.values, currencies), *(_cells(row.previous, currencies) if row.previous else ())]
        key = row.group[0]
        link = found.links.get(LinkId(key)) if of_link and key else None
        named = [inert(link.link_name), short_url_of(link)] if link else [""] * len(of_link)
        writer.writerow([inert(key or ""), *named, *cells])
    response = Response(written.getvalue(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _columns(measure: Measure, currencies: Iterable[str]) -> list[str]:
    if measure is Measure.REVENUE:
        return [f"{measure.value}_{each}" for each in currencies]
    return [measure.value]


def _cells(values: Values, currencies: Iterable[str]) -> Iterable[object]:
    for value in values.values():
        if isinstance(value, Mapping):
            yield from (value.get(each, 0) for each in currencies)
        else:
            yield "" if value is None else value


def _currencies(row: Row) -> set[str]:
    amounts = [each.get(Measure.REVENUE) for each in (row.values, row.previous) if each]
    return {currency for each in amounts if isinstance(each, Mapping) for currency in each}

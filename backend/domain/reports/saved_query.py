"""The query of a report: mostly the body of a question over REST, such as `POST /analytics/query`, as given.

It is read anew each time, so that its period moves with the time. A report shows one page of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.analytics.funnels.input import FUNNEL_QUERY_FIELDS
from backend.domain.analytics.input import FIELDS, NULLABLE, UpTo, field_schema
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import JsonObject, Rule, Schema
from backend.domain.reports.cohorts import COHORT_REPORT_FIELDS
from backend.domain.reports.links import LIST_REPORT_FIELDS
from backend.domain.reports.live import LIVE_REPORT_FIELDS
from backend.domain.reports.overview import OVERVIEW_FIELDS
from backend.domain.reports.singles import CLICKS_FIELDS, SALES_FIELDS

# Of a report: it is one page, and it may be a mail.
MOST_ROWS = 1_000
_MOST_BYTES = 32 * 1024
_ANY_FILTERS: Schema = {"type": "object", "additionalProperties": True}
_LIMIT = UpTo(MOST_ROWS, MOST_ROWS)
_OF_TABLE = {name: rule for name, rule in FIELDS.items() if name != "cursor"} | {"limit": _LIMIT}


class SavedQuery:
    """A query as JSON. `read_view` says whether it can be answered."""

    _OBJECT = JsonObject(_MOST_BYTES)

    def parse(self, field: str, value: object) -> dict[str, Any]:
        """The query without fields that are null. Raises InvalidField."""
        given = self._OBJECT.parse(field, value)
        if "cursor" in given:
            raise InvalidField(f"{field}.cursor", "is not a field of a report, which has no other pages")
        is_funnel = "steps" in given
        query = {
            name: inner
            for name, inner in given.items()
            if inner is not None or is_funnel or name not in NULLABLE
        }
        if "limit" in query:
            _LIMIT.parse(f"{field}.limit", query["limit"])
        return query

    def schema(self) -> Schema:
        """JSON Schema of what each kind of report has, but for what filters may be."""
        funnel = {name: rule.schema() for name, rule in FUNNEL_QUERY_FIELDS.items()}
        step = funnel["steps"]["items"]
        step["properties"]["filters"] = {"anyOf": [_ANY_FILTERS, {"type": "null"}]}
        overview = {**_OF_TABLE, **OVERVIEW_FIELDS}
        return {
            "anyOf": [
                _schema("As the body of POST /analytics/query, without cursor.", _OF_TABLE),
                _schema("Of an overview: likewise, with a table for each field of group_by.", overview),
                {
                    "type": "object",
                    "additionalProperties": False,
                    "description": "Of a funnel: as the body of POST /analytics/funnel.",
                    "required": ["steps"],
                    "properties": funnel,
                },
                _schema("Of cohorts: which customers, and what the tables show.", COHORT_REPORT_FIELDS),
                _schema("Of single clicks: which ones, and how many.", CLICKS_FIELDS),
                _schema("Of single sales, leads or events: likewise, and who gets the credit.", SALES_FIELDS),
                _schema("Of a list of links: which ones, in which order.", LIST_REPORT_FIELDS),
                _schema("Of Live: what is counted in each of the last minutes.", LIVE_REPORT_FIELDS),
            ]
        }


def _schema(description: str, rules: Mapping[str, Rule[Any]]) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "description": description,
        "properties": {name: field_schema(name, rule) for name, rule in rules.items()}
        | {"filters": _ANY_FILTERS},
    }

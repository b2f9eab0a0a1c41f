"""What the fields of queries of analytics mean, and the JSON Schema of such a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.domain.analytics.input import FIELDS, field_schema
from backend.domain.analytics.measures import Measure
from backend.domain.fields.rules import Rule, Schema

MEANINGS = {
    "measures": "What is counted; by default clicks. "
    + " ".join(f"{measure}: {measure.meaning}" for measure in Measure),
    "group_by": "What each row is of; nothing gives one row. At most one part of the time. Leads, "
    "conversions and events have the country, platform, system, browser, referrer and outcome of the click "
    "that earned them, where that is known.",
    "from": "The beginning, which is included; a date begins in the time zone. By default 28 days before to.",
    "to": "The end, which is not included; by default the end of today. Both are at a quarter of an hour.",
    "period": "Instead of from and to, a period that moves with the time. Those that include today end with "
    "the current quarter of an hour, the others are whole days.",
    "timezone": "The IANA time zone whose days, weeks, months and hours count.",
    "week_starts": "The day on which weeks begin; by default monday.",
    "filters": "For each field the values that are left; null stands for what has none. An object says it "
    "in another way: not has the values that are not left, prefix how those begin that are. By a field of "
    "links, what no touch gets the credit for is left out, and so is what came of links that were deleted "
    "for good.",
    "compare": "What each row is compared with. previous: whole calendar months with as many calendar "
    "months before, any other period with as many days before. year: whole calendar months with the same "
    "ones a year before, any other period with the same weekdays 52 weeks before.",
    "change": "Whether rows, and the totals, have change: by which share each measure changed against "
    "previous. Needs compare.",
    "currency": "Conversions in this currency only, also in customers and rates; a note says how many others "
    "there are. Amounts are one text each. Without it all conversions count, "
    "and conversions_by_currency says how many in each.",
    "credit": "Whose touches get the credit for leads and conversions: of the same device, which is the "
    "default, or of all devices of the customer.",
    "model": "Which touches get it; by default last_non_direct. Only last counts direct visits. linear and "
    "position_based (40 % each to the first and the last) divide it, so that counts may have fractions.",
    "lookback_days": "How many days a touch may be older; null is without limit.",
    "as_of": "As it stood then, from what had been told by then; a date includes all of its day. Clicks are "
    "those of now.",
    "order_by": "A measure or a field of group_by, or, with change, change. and a measure, or, with compare, "
    "difference. and a measure; with - before it for descending. An amount needs currency, or currencies "
    "behind it (revenue.EUR.USD) that decide one after the other. By default the part of the time, or else "
    "the first measure, descending.",
    "limit": "Rows of a page.",
    "cursor": "The next_cursor of the page before, with the same query.",
    "format": "Form of the file; by default csv.",
}


def body_schema(fields: Mapping[str, Rule[Any]], meanings: Mapping[str, str]) -> Schema:
    """JSON Schema of a body with fields of queries."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: field_schema(name, rule) | {"description": meanings[name]} for name, rule in fields.items()
        },
    }


QUERY = body_schema(FIELDS, MEANINGS)

"""JSON Schemas of the answers of analytics."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.event_properties import BEGIN
from backend.domain.analytics.measures import ByCurrency, Measure, MeasureKind, Unit
from backend.domain.analytics.query import Field
from backend.domain.analytics.rows import KIND, PARTIAL
from backend.domain.fields.answer_schemas import COUNT, TEXT, TIME, UUID, answer_object, or_null
from backend.domain.fields.rules import Schema

_AMOUNT: Schema = {
    "anyOf": [
        {"type": "array", "items": answer_object(currency=TEXT, amount=TEXT)},
        {"type": ["string", "null"]},
    ],
    "description": "Amounts by currency; where currency was given, its amount. Null without clicks.",
}
_COST: Schema = _AMOUNT | {
    "description": "Amounts by currency; where currency was given, its amount. Null where nothing was told, "
    "or where it can't be known: costs are told by campaign and day."
}
_RETURN: Schema = {
    "anyOf": [
        {"type": "array", "items": answer_object(currency=TEXT, return_on_ad_spend={"type": "number"})},
        {"type": ["number", "null"]},
    ],
    "description": "By the currency of the cost; where currency was given, a number. Null as of cost.",
}
_SHARED: Schema = {"type": "number", "minimum": 0}  # a fraction where several touches share the credit
_OF_UNITS: Mapping[Unit, Schema] = {
    Unit.COUNT: COUNT,
    Unit.CREDIT: _SHARED,
    Unit.SHARE: {"type": ["number", "null"], "minimum": 0},
    Unit.RETURN: _RETURN,
}


def _schema_of(measure: Measure) -> Schema:
    schema = _OF_UNITS.get(measure.unit, _COST if measure.kind is MeasureKind.COSTS else _AMOUNT)
    most = {"maximum": 1} if measure is Measure.CHANCE_OF_BEST else {}
    return schema | most | {"description": f"{measure.meaning} {schema.get('description', '')}".strip()}


_MEASURES: dict[str, Schema] = {measure.value: _schema_of(measure) for measure in Measure}
for _by_currency in ByCurrency:
    _MEASURES[_by_currency] = {
        "type": "array",
        "items": answer_object(currency=TEXT, **{_by_currency.measure: _SHARED}),
        "description": f"How many of {_by_currency.measure} are in each currency; "
        "absent where currency was given.",
    }
# Of the measures, those that the query names.
_COMPARED: Schema = {
    "type": "object",
    "properties": _MEASURES,
    "description": "The same of the time that is compared with (previous_period); absent without compare.",
}
_CHANGED: Schema = {
    "type": "object",
    "properties": {measure.value: {"type": ["number", "null"]} for measure in Measure},
    "description": "By which share each measure changed against previous: 0.5 is half as much again. Null "
    "where there was nothing, and for amounts without one currency. Absent without change.",
}
_COMPARISON: dict[str, Schema] = {"previous": _COMPARED, "change": _CHANGED}
_FIGURES: Schema = {"type": "object", "properties": _MEASURES | _COMPARISON}
_KINDS = "; ".join(
    (
        f"{RowKind.NOT_CREDITED}: no touch gets the credit",
        f"{RowKind.PURGED_LINKS}: a link does that was deleted for good",
        f"{RowKind.OTHER_VALUES}: of events whose properties have other values than the most frequent ones",
    )
)
_LINK_NAMES = ("link_name", "short_url")
_ROW: Schema = {
    "type": "object",
    "properties": {
        **{field.value: or_null(TEXT) for field in Field},
        f"{BEGIN}NAME": or_null({**TEXT, "description": "A marked property of events, by its name."}),
        **dict.fromkeys(_LINK_NAMES, or_null(TEXT)),
        KIND: {
            "type": "string",
            "description": "Only in rows apart, which are null in all fields of links, or of properties of "
            f"events. {_KINDS}. There may be more.",
        },
        PARTIAL: {
            "type": "boolean",
            "description": "True where a part of the row's hour, day, week or month is not in the period, or "
            "it was not over; else absent.",
        },
        **_MEASURES,
        **_COMPARISON,
    },
    "description": "The fields of group_by, null where there is none; with link also its name and short URL.",
}
_PERIOD = answer_object(
    **{"from": {"type": "string", "format": "date-time"}, "to": {"type": "string", "format": "date-time"}},
    timezone=TEXT,
)


def _counts(what: str) -> Schema:
    names = (f"{what}_last_30_days", f"{what}_last_7_days", f"total_{what}")
    return answer_object(**dict.fromkeys(names, COUNT))


ANALYTICS_SCHEMAS: dict[str, Schema] = {
    "AnalyticsAnswer": answer_object(
        rows={"type": "array", "items": _ROW},
        totals=_FIGURES | {"description": "What all rows come to, of all pages."},
        next_cursor=or_null(TEXT),
        notes={
            "type": "array",
            "items": TEXT,
            "description": "What is counted in a special way, what is compared with what, and why rows and "
            "totals differ.",
        },
        period=_PERIOD,
        previous_period=or_null(_PERIOD),
    ),
    "ClickAnalytics": _counts("clicks"),
    "InstallAnalytics": _counts("installs"),
    "EventProperties": answer_object(
        marked={
            "type": "array",
            "items": TEXT,
            "description": "Queries may name each as `event.` and its name.",
        },
    ),
    "InvitationList": answer_object(
        invitations={
            "type": "array",
            "items": answer_object(
                id=UUID,
                external_id=or_null(TEXT),
                short_url=TEXT,
                link_name=TEXT,
                destination_url=TEXT,
                custom_data=or_null({"type": "object", "additionalProperties": True}),
                created_at=TIME,
                clicks=COUNT,
                opens=COUNT,
                brought=COUNT,
                customers={"type": "array", "items": answer_object(customer_id=TEXT, came_at=TIME)},
            ),
        },
        next_cursor=or_null(TEXT),
    ),
}

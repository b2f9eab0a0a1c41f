"""JSON Schemas of the REST API's answers (contract, "Resources and their fields", "Errors")."""

from __future__ import annotations

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.event_properties import BEGIN
from backend.domain.analytics.measure_words import MEANINGS
from backend.domain.analytics.query import COSTS, MONEY, ByCurrency, Field, Measure
from backend.domain.analytics.rows import KIND, PARTIAL
from backend.domain.fields.rules import Schema, Word
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS, LinkState
from backend.domain.links.operations import Done
from backend.domain.sales.decisions import Status
from backend.domain.sales.explanation import StepKind
from backend.domain.taps.devices import CachedFile, TapDevice
from backend.domain.taps.tap import Effect

_TEXT: Schema = {"type": "string"}
# Said, since generators of clients take an object without properties for one that has none.
_ANYTHING: Schema = {"type": "object", "additionalProperties": True}
_COUNT: Schema = {"type": "integer", "minimum": 0}
# The contract's date-times carry no zone, so `format: date-time` would be wrong.
_TIME: Schema = {
    "type": "string",
    "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
    "description": "UTC, in whole seconds, without zone.",
}
# The time of operations beside the contract's.
_ZONED_TIME: Schema = {"type": "string", "format": "date-time", "description": "UTC, in whole seconds."}


def _object(**properties: Schema) -> Schema:
    """The schema of an object with at least these properties: version 1 may get more."""
    return {"type": "object", "required": list(properties), "properties": properties}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _counts(what: str) -> Schema:
    names = (f"{what}_last_30_days", f"{what}_last_7_days", f"total_{what}")
    return _object(**dict.fromkeys(names, _COUNT))


_INNER: Schema = {"$ref": "#/components/schemas/ErrorDetail"}
_ERROR: Schema = {"$ref": "#/components/schemas/ErrorAnswer"}
_CODE: Schema = {"type": "integer"}
_SUCCESS: Schema = {"const": "success"}
_UUID: Schema = {"type": "string", "format": "uuid"}

_AMOUNT: Schema = {
    "anyOf": [
        {"type": "array", "items": _object(currency=_TEXT, amount=_TEXT)},
        {"type": ["string", "null"]},
    ],
    "description": "Amounts by currency; where currency was given, its amount. Null without clicks.",
}
_COST: Schema = _AMOUNT | {
    "description": "Amounts by currency; where currency was given, its amount. Null where nothing was told, "
    "or where it can't be known: costs are told by campaign and day."
}
_VALUES: dict[str, Schema] = {
    **{measure.value: _COUNT for measure in Measure if measure not in MONEY},
    # Fractions where several touches share the credit.
    **{
        measure.value: {"type": "number", "minimum": 0}
        for measure in (Measure.LEADS, Measure.CONVERSIONS, Measure.EVENTS, Measure.IDENTITIES)
    },
    Measure.CONVERSION_RATE.value: {"type": ["number", "null"], "minimum": 0},
    Measure.CHANCE_OF_BEST.value: {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    **{measure.value: _AMOUNT for measure in Measure if measure in MONEY - COSTS},
    **{measure.value: _COST for measure in Measure if measure in COSTS},
    Measure.RETURN_ON_AD_SPEND.value: {
        "anyOf": [
            {"type": "array", "items": _object(currency=_TEXT, return_on_ad_spend={"type": "number"})},
            {"type": ["number", "null"]},
        ],
        "description": "By the currency of the cost; where currency was given, a number. Null as of cost.",
    },
}
_MEASURES: dict[str, Schema] = {
    name: schema | {"description": f"{MEANINGS[Measure(name)]} {schema.get('description', '')}".strip()}
    for name, schema in _VALUES.items()
}
for _by_currency in ByCurrency:
    _MEASURES[_by_currency] = {
        "type": "array",
        "items": _object(currency=_TEXT, **{_by_currency.measure: {"type": "number", "minimum": 0}}),
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
        **{field.value: _or_null(_TEXT) for field in Field},
        f"{BEGIN}NAME": _or_null({**_TEXT, "description": "A marked property of events, by its name."}),
        **dict.fromkeys(_LINK_NAMES, _or_null(_TEXT)),
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
_RULE = _object(**{"if": _ANYTHING, "then": _ANYTHING})
_PERIOD = _object(
    **{"from": {"type": "string", "format": "date-time"}, "to": {"type": "string", "format": "date-time"}},
    timezone=_TEXT,
)

_INSTANT: Schema = {"type": "string", "format": "date-time", "description": "UTC, in milliseconds."}
_CLICK = _object(
    at=_INSTANT,
    country=_or_null(_TEXT),
    platform=_or_null(_TEXT),
    system=_or_null(_TEXT),
    browser=_or_null(_TEXT),
    referrer_host=_or_null(_TEXT),
    variant=_or_null(_TEXT),
)
_TAP = _object(
    device={"enum": [*TapDevice]},
    tapped_in=_TEXT,
    has_app={"type": "boolean"},
    file=_or_null({"enum": [*CachedFile]}),
    effect={"enum": [*Effect]},
    address=_or_null(_TEXT),
    why={"type": "array", "items": _TEXT},
    differs={"type": "boolean", "description": "Whether it does otherwise without the query’s behaviours."},
)
_TOUCH = _object(
    at=_INSTANT,
    link_id=_or_null(_UUID),
    link_name=_or_null(_TEXT),
    short_url=_or_null(_TEXT),
    variant=_or_null(_TEXT),
    utm=_ANYTHING,
    click_ids={"type": "array", "items": _TEXT, "description": "The names of ad click ids."},
    click=_or_null(_CLICK)
    | {"description": "The recorded click that the visit named, of the latest 20 and while it is kept."},
    in_words=_TEXT,
)
_SHARE = _object(
    part={"type": "number", "minimum": 0, "maximum": 1}, revenue=_TEXT, refunds=_TEXT, net_revenue=_TEXT
)
_SHARES: Schema = {
    "type": "array",
    "description": "What each touch gets; touch is null for what nobody gets. Empty if the sale had not been "
    "told by as_of.",
    "items": {
        "type": "object",
        "required": ["touch", *_SHARE["required"]],
        "properties": {"touch": _or_null(_TOUCH)} | _SHARE["properties"],
    },
}
_RULES = _object(
    credit=_TEXT,
    model=_TEXT,
    lookback_days=_or_null(_COUNT),
    as_of=_or_null(_INSTANT),
    in_words=_TEXT,
)

SCHEMAS: dict[str, Schema] = {
    "Link": _object(
        id=_UUID,
        short_url=_TEXT,
        destination_url=_TEXT,
        link_name=_TEXT,
        is_enabled={"type": "boolean"},
        createdTime=_TIME,
        modifiedTime=_TIME,
        org_id=_TEXT,
    ),
    "WholeLink": _object(
        id=_UUID,
        external_id=_or_null(_TEXT),
        org_id=_TEXT,
        domain=_TEXT,
        path=_TEXT,
        short_url=_TEXT,
        destination_url=_TEXT,
        link_name=_TEXT,
        is_enabled={"type": "boolean"},
        is_archived={"type": "boolean"},
        state={"type": "string", "description": f"{', '.join(LinkState)}; there may be more."},
        ios_behavior=_COUNT,
        android_behavior=_COUNT,
        **dict.fromkeys((*UTM_FIELDS, *SOCIAL_FIELDS, *FALLBACK_FIELDS), _or_null(_TEXT)),
        custom_data=_or_null(_ANYTHING),
        rules={"type": "array", "items": _RULE},
        forwards_path={"type": "boolean"},
        forwards_query=_or_null({"type": "array", "items": _TEXT}),
        starts_at=_or_null(_ZONED_TIME),
        expires_at=_or_null(_ZONED_TIME),
        max_clicks=_or_null(_COUNT),
        clicks_left=_or_null(_COUNT),
        expired_url=_or_null(_TEXT),
        has_password={"type": "boolean"},
        tags={"type": "array", "items": _TEXT},
        created_by=_TEXT,
        created_at=_ZONED_TIME,
        modified_at=_ZONED_TIME,
        archived_at=_or_null(_ZONED_TIME),
        hold=_or_null(_object(at=_ZONED_TIME, why=_TEXT)),
        imported_clicks=_or_null(_object(count=_COUNT, source=_TEXT, imported_at=_ZONED_TIME)),
        clicks=_object(total=_COUNT, last_7_days=_COUNT, last_30_days=_COUNT),
    ),
    "LinkList": _object(
        links={"type": "array", "items": {"$ref": "#/components/schemas/WholeLink"}},
        next_cursor=_or_null(_TEXT),
    ),
    "ExplainedTaps": _object(short_url=_TEXT, taps={"type": "array", "items": _TAP}),
    "InvitationList": _object(
        invitations={
            "type": "array",
            "items": _object(
                id=_UUID,
                external_id=_or_null(_TEXT),
                short_url=_TEXT,
                link_name=_TEXT,
                destination_url=_TEXT,
                custom_data=_or_null({"type": "object", "additionalProperties": True}),
                created_at=_ZONED_TIME,
                clicks=_COUNT,
                opens=_COUNT,
                brought=_COUNT,
                customers={"type": "array", "items": _object(customer_id=_TEXT, came_at=_ZONED_TIME)},
            ),
        },
        next_cursor=_or_null(_TEXT),
    ),
    "Tag": _object(name=_TEXT, color=_TEXT, links=_COUNT, created_at=_ZONED_TIME),
    "TagList": _object(tags={"type": "array", "items": {"$ref": "#/components/schemas/Tag"}}),
    "UtmTemplate": _object(name=_TEXT, **dict.fromkeys(UTM_FIELDS, _or_null(_TEXT)), created_at=_ZONED_TIME),
    "UtmTemplateList": _object(
        utm_templates={"type": "array", "items": {"$ref": "#/components/schemas/UtmTemplate"}}
    ),
    "DestinationRules": _object(
        allowed={
            "type": "array",
            "items": _TEXT,
            "description": "If there are any, links lead nowhere else.",
        },
        refused={"type": "array", "items": _TEXT, "description": "Links lead there never."},
    ),
    "EventProperties": _object(
        marked={
            "type": "array",
            "items": _TEXT,
            "description": "Queries may name each as `event.` and its name.",
        },
    ),
    "BulkResults": _object(
        results={"type": "array", "items": {"$ref": "#/components/schemas/BulkResult"}},
    ),
    "BulkResult": {
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": Word(Done).schema(),
            "id": _UUID,
            "short_url": _TEXT,
            "error": _ERROR | {"description": "Why it is rejected."},
        },
    },
    "ItemResults": _object(results={"type": "array", "items": {"$ref": "#/components/schemas/ItemResult"}}),
    "ItemResult": {
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": {
                "type": "string",
                "enum": [*Status, "rejected"],
                "description": "One object that is rejected is refused instead, with status 400 or 404.",
            },
            "id": _UUID | {"description": "Of what counts: of a duplicate, of what was told first."},
            "error": _ERROR | {"description": "Why it is rejected."},
            "notes": {"type": "array", "items": _TEXT, "description": "What was rounded, cut or differs."},
        },
    },
    "ExplainedSale": _object(
        id=_UUID,
        transaction_id=_TEXT,
        at=_INSTANT,
        received_at=_INSTANT | {"description": "When the service was told first."},
        device_id=_or_null(_UUID),
        customer_id=_or_null(_TEXT),
        currency=_TEXT,
        revenue=_TEXT,
        refunds=_TEXT,
        net_revenue=_TEXT,
        steps={
            "type": "array",
            "description": "What was known, oldest first.",
            "items": _object(
                kind={
                    "type": "string",
                    "description": f"One of {', '.join(StepKind)}; there may be more.",
                },
                at=_INSTANT,
                in_words=_TEXT,
                device_id=_or_null(_UUID),
                customer_id=_or_null(_TEXT),
                touch=_or_null(_TOUCH),
                share=_or_null(_SHARE),
                refund=_or_null(_object(refund_id=_TEXT, amount=_TEXT)),
            ),
        },
        rules=_RULES,
        shares=_SHARES,
        others={
            "type": "array",
            "description": "What all other models say, by device and by customer.",
            "items": _object(rules=_RULES, shares=_SHARES),
        },
        notes={"type": "array", "items": _TEXT},
    ),
    "Pagination": _object(
        current_page={"type": "integer", "minimum": 1},
        page_size={"type": "integer", "minimum": 1},
        total_items=_COUNT,
        total_pages=_COUNT,
    ),
    "LinkPage": _object(
        links={"type": "array", "items": {"$ref": "#/components/schemas/Link"}},
        pagination={"$ref": "#/components/schemas/Pagination"},
    ),
    "Created": _object(status=_SUCCESS, message=_TEXT, short_url=_TEXT),
    "Changed": _object(message=_TEXT, status=_SUCCESS),
    "ClickAnalytics": _counts("clicks"),
    "InstallAnalytics": _counts("installs"),
    "AnalyticsAnswer": _object(
        rows={"type": "array", "items": _ROW},
        totals=_FIGURES | {"description": "What all rows come to, of all pages."},
        next_cursor=_or_null(_TEXT),
        notes={
            "type": "array",
            "items": _TEXT,
            "description": "What is counted in a special way, what is compared with what, and why rows and "
            "totals differ.",
        },
        period=_PERIOD,
        previous_period=_or_null(_PERIOD),
    ),
    "ErrorDetail": _object(
        errorMessage=_TEXT,
        fieldName=_TEXT | {"description": "The field that is at fault, if one is; else a name of the error."},
    ),
    "ErrorAnswer": {
        "type": "object",
        "required": ["code", "errorMessage", "error"],
        "properties": {
            "code": _CODE,
            "errorMessage": _TEXT,
            "error": _INNER,
            "errors": {
                "type": "array",
                "minItems": 1,
                "items": _INNER,
                "description": "Where fields are at fault, all of them; the first is error.",
            },
        },
    },
    "ErrorList": _object(
        code=_CODE,
        errorMessage=_TEXT,
        errors={"type": "array", "minItems": 1, "items": _INNER},
    ),
}

"""JSON Schemas of what is answered to servers that tell items, and of explained sales."""

from __future__ import annotations

from backend.domain.fields.answer_schemas import (
    ANYTHING,
    COUNT,
    INSTANT,
    TEXT,
    TEXTS,
    UUID,
    answer_object,
    or_null,
)
from backend.domain.fields.rules import Schema
from backend.domain.sales.decisions import Status
from backend.domain.sales.explanation import StepKind
from backend.rest_api.routes.operation import reference

_CLICK = answer_object(
    at=INSTANT,
    country=or_null(TEXT),
    platform=or_null(TEXT),
    system=or_null(TEXT),
    browser=or_null(TEXT),
    referrer_host=or_null(TEXT),
    variant=or_null(TEXT),
)
_TOUCH = answer_object(
    at=INSTANT,
    link_id=or_null(UUID),
    link_name=or_null(TEXT),
    short_url=or_null(TEXT),
    variant=or_null(TEXT),
    utm=ANYTHING,
    click_ids={"type": "array", "items": TEXT, "description": "The names of ad click ids."},
    click=or_null(_CLICK)
    | {"description": "The recorded click that the visit named, of the latest 20 and while it is kept."},
    in_words=TEXT,
)
_SHARE = answer_object(
    part={"type": "number", "minimum": 0, "maximum": 1}, revenue=TEXT, refunds=TEXT, net_revenue=TEXT
)
_SHARES: Schema = {
    "type": "array",
    "description": "What each touch gets; touch is null for what nobody gets. Empty if the sale had not been "
    "told by as_of.",
    "items": {
        "type": "object",
        "required": ["touch", *_SHARE["required"]],
        "properties": {"touch": or_null(_TOUCH)} | _SHARE["properties"],
    },
}
_RULES = answer_object(
    credit=TEXT,
    model=TEXT,
    lookback_days=or_null(COUNT),
    as_of=or_null(INSTANT),
    in_words=TEXT,
)


SALES_ANSWER_SCHEMAS: dict[str, Schema] = {
    "ItemResults": answer_object(results={"type": "array", "items": reference("ItemResult")}),
    "ItemResult": {
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": {
                "type": "string",
                "enum": [*Status, "rejected"],
                "description": "One object that is rejected is refused instead, with status 400 or 404.",
            },
            "id": UUID | {"description": "Of the record; of a duplicate, of the one that was there."},
            "error": reference("ErrorAnswer") | {"description": "Why it is rejected."},
            "notes": {"type": "array", "items": TEXT, "description": "What was rounded, cut or differs."},
        },
    },
    "ExplainedSale": answer_object(
        id=UUID,
        transaction_id=TEXT,
        at=INSTANT,
        received_at=INSTANT | {"description": "When the service was told first."},
        device_id=or_null(UUID),
        customer_id=or_null(TEXT),
        currency=TEXT,
        revenue=TEXT,
        refunds=TEXT,
        net_revenue=TEXT,
        steps={
            "type": "array",
            "description": "What was known, oldest first.",
            "items": answer_object(
                kind={
                    "type": "string",
                    "description": f"One of {', '.join(StepKind)}; there may be more.",
                },
                at=INSTANT,
                in_words=TEXT,
                device_id=or_null(UUID),
                customer_id=or_null(TEXT),
                touch=or_null(_TOUCH),
                share=or_null(_SHARE),
                refund=or_null(answer_object(refund_id=TEXT, amount=TEXT, currency=TEXT)),
            ),
        },
        rules=_RULES,
        shares=_SHARES,
        others={
            "type": "array",
            "description": "What all other models say, by device and by customer.",
            "items": answer_object(rules=_RULES, shares=_SHARES),
        },
        notes=TEXTS,
    ),
}

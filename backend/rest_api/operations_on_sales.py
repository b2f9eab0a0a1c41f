"""What servers tell of leads, sales, events and customers, as data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from backend.domain import refunds
from backend.domain.calls import Kind
from backend.domain.field_rules import Rule, Schema
from backend.domain.server_calls import REQUIRED_FIELDS, RULES, WHO_IN_WORDS
from backend.json_api import error_table
from backend.rest_api import operations_on_analytics
from backend.rest_api.explain_conversion import QUERY
from backend.rest_api.operation import BODY_ERRORS, EVERYWHERE, KEY_ERRORS, Operation, query
from backend.rest_api.rule_in_words import rule_in_words
from backend.rest_api.told_items import MOST_ITEMS

_MEANINGS = {
    "customer_id": "Your own id of the customer.",
    "device_id": "The browser's id, from its cookie cl_device_id.",
    "click_id": "The cl_click_id that a redirect of yours gave the visitor: what led to this is that click.",
    "occurred_at": "When it happened, up to 366 days ago; by default now.",
    "call_id": "An id of yours for this telling: repeated with it, it counts once.",
    "page": "The page that it happened on; of the query, send no tokens and no e-mail addresses.",
    "transaction_id": "Your own id of the order: it counts once for ever, whoever tells it.",
    "event_id": "Your own id of the lead: it counts once for ever, whoever tells it.",
    "revenue": "What was paid, in major units (12.50, not 1250).",
    "currency": "ISO 4217 code.",
    "product_id": "Your own id of what it is about.",
    "metadata": "Your own data: an object of at most 4 KiB.",
    "name": "Of an event its name, else the customer's.",
    "email_sha256": "SHA-256 of the e-mail address, trimmed and in lower case.",
    "phone_sha256": "SHA-256 of the phone number, in digits with a leading +.",
    "refund_id": "Your own id of the refund: it counts once for ever.",
    "amount": "What was paid back, in major units: the whole or a part, at most what is left.",
    "client_timestamp": "When it happened by the visitor's clock.",
}


_TRANSACTION_ID: Schema = {
    "name": "transaction_id",
    "in": "path",
    "required": True,
    "description": "The order's id, as it was told.",
    "schema": {"type": "string", "minLength": 1},
}


def items_or_one(rules: Mapping[str, Rule[Any]], required: Collection[str], also: str = "") -> Schema:
    """The schema of a body that is one item with these fields, or has a list of such items.

    `also` is a sentence on what else they need.
    """
    items: Schema = {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_ITEMS,
        "description": f"Instead of the other fields: up to {MOST_ITEMS:,} objects that have them.",
        "items": {},
    }
    # What breaks a rule is told in the item's own result, so no request is refused for it.
    fields = {name: {"description": _in_words(name, rule, name in required)} for name, rule in rules.items()}
    return {
        "type": "object",
        "description": f"One object with these fields, or a list of them. {also}".strip(),
        "properties": fields | {"items": items},
    }


def _in_words(name: str, rule: Rule[Any], is_required: bool) -> str:
    return f"{'Required. ' if is_required else ''}{_MEANINGS[name]} ({rule_in_words(rule.schema())})"


def _calls(kind: Kind) -> Schema:
    return items_or_one(RULES[kind], REQUIRED_FIELDS[kind], f"{WHO_IN_WORDS} must be given.")


def _telling(endpoint: str, path: str, summary: str, body: Schema) -> Operation:
    errors = (*BODY_ERRORS, *KEY_ERRORS, *EVERYWHERE)
    return Operation(endpoint, "post", path, summary, 200, "ItemResults", errors, body=body)


OPERATIONS = (
    _telling("tell_conversions", "/conversions", "Tell sales, each counted once", _calls(Kind.CONVERSION)),
    _telling("tell_leads", "/leads", "Tell leads", _calls(Kind.LEAD)),
    _telling("tell_events", "/events", "Tell events of your own naming", _calls(Kind.EVENT)),
    _telling("tell_identities", "/identities", "Tell who customers are", _calls(Kind.IDENTIFY)),
    _telling(
        "tell_refunds",
        "/conversions/refund",
        "Tell refunds, each counted once",
        items_or_one(refunds.RULES, refunds.REQUIRED),
    ),
    Operation(
        "explain_conversion",
        "get",
        "/conversions/{transaction_id}/explain",
        "Explain whose a sale is: what led to its credit, in order and in words, and what other models say",
        200,
        "ExplainedSale",
        (error_table.QUERY_INVALID, *KEY_ERRORS, error_table.SALE_NOT_FOUND, *EVERYWHERE),
        parameters=(
            _TRANSACTION_ID,
            *(
                query(name, rule.schema(), operations_on_analytics.MEANINGS[name])
                for name, rule in QUERY.items()
            ),
        ),
    ),
)

"""JSON Schemas of the items that servers tell, from the rules that check them; and how items are told."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.rules import Rule, Schema
from backend.domain.sales import refunds
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.server_calls import REQUIRED_FIELDS, RULES, WHO
from backend.json_api import error_table
from backend.json_api.error_table import ErrorRow
from backend.rest_api.routes.operation import Operation, reference
from backend.rest_api.sales.told_items import MOST_ITEMS

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
_WHO = f"{', '.join(WHO[:-1])} or {WHO[-1]} must be given."


def _item(rules: Mapping[str, Rule[Any]], required: Collection[str], description: str) -> Schema:
    """The schema of one item. Null stands for an optional field that is not given."""
    properties: Schema = {}
    for name, rule in rules.items():
        schema = rule.schema()
        shown = schema if name in required else {"anyOf": [schema, {"type": "null"}]}
        properties[name] = shown | {"description": _MEANINGS[name]}
    return {
        "type": "object",
        "description": description,
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def _list(item: str) -> Schema:
    items = {"type": "array", "minItems": 1, "maxItems": MOST_ITEMS, "items": reference(item)}
    return {
        "type": "object",
        "description": "Many at once. What is wrong with one of them is told in its own result.",
        "required": ["items"],
        "properties": {"items": items},
        "additionalProperties": False,
    }


def _call(kind: Kind, what: str) -> Schema:
    return _item(RULES[kind], REQUIRED_FIELDS[kind], f"{what} {_WHO}")


_ITEMS: dict[str, Schema] = {
    "Conversion": _call(Kind.CONVERSION, "A sale."),
    "Lead": _call(Kind.LEAD, "A lead."),
    "Event": _call(Kind.EVENT, "An event of your own naming."),
    "Identity": _call(Kind.IDENTIFY, "Who a customer is, and which device is theirs."),
    "Refund": _item(refunds.RULES, refunds.REQUIRED, "What was paid back of a sale."),
}
SALES_SCHEMAS: dict[str, Schema] = _ITEMS | {f"{name}List": _list(name) for name in _ITEMS}


def telling(path: str, summary: str, item: str, *errors: ErrorRow) -> Operation:
    """An operation by which a server tells one item of this schema, or a list of them."""
    return Operation(
        method="POST",
        path=path,
        summary=summary,
        needs=(Permission.SALES_WRITE,),
        body={"oneOf": [reference(item), reference(f"{item}List")]},
        answer="ItemResults",
        errors=(error_table.FIELD_MISSING, *errors),
    )

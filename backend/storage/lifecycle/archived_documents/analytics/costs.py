"""Rules for the costs of campaigns of an archive."""

from __future__ import annotations

from collections.abc import Mapping

from bson import Decimal128

from backend.domain.costs.input import COST_FIELDS, told_cost
from backend.domain.errors import InvalidField
from backend.storage.costs import costs
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_id
from backend.storage.schema.document_fields import DocumentFields, time


def _amount(name: str, value: object) -> object:
    if not isinstance(value, Decimal128):
        raise InvalidField(name, "must be an exact decimal")
    COST_FIELDS["amount"].parse(name, value.to_decimal())
    return value


def _day(name: str, value: object) -> object:
    return str(COST_FIELDS["day"].parse(name, value))


_COST = DocumentFields(
    {
        "campaign": COST_FIELDS["campaign"].parse,
        "day": _day,
        "amount": _amount,
        "currency": COST_FIELDS["currency"].parse,
        "told_at": time,
    }
)


def _cost(document: Document, context: ArchiveContext) -> None:
    _COST.check(document)
    named = {name: document[name] for name in COST_FIELDS} | {"amount": document["amount"].to_decimal()}
    told = told_cost({name: rule.parse(name, named[name]) for name, rule in COST_FIELDS.items()})
    if (told.campaign, told.currency, told.amount) != (named["campaign"], named["currency"], named["amount"]):
        raise InvalidField("amount", "and the other fields must be as they are stored")
    own_id(document, context.org_id, told.id)


RULES: Mapping[str, DocumentRule] = {costs.NAME: _cost}

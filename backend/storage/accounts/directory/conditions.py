"""Translates searches for provisioned people and groups into queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from backend.domain.accounts.provisioning.people import email_key, folded
from backend.domain.accounts.provisioning.search import (
    Condition,
    Equals,
    HasEmail,
    Joined,
    OneEmail,
    SearchField,
)
from backend.storage.driver.mongo import Document

# Where the folded value of a field is stored, if upper and lower case are one in it.
_KEYS: Mapping[SearchField, str] = {
    SearchField.USER_NAME: "user_name_key",
    SearchField.DISPLAY_NAME: "display_name_key",
}
# Whoever has no `active` is active.
_STORED: Mapping[SearchField, str] = {SearchField.ID: "_id", SearchField.ACTIVE: "is_active"}


def to_query(condition: Condition) -> Document:
    """The query for what fits. The caller adds whose documents it is about."""
    if isinstance(condition, Equals):
        return _equals(condition)
    if isinstance(condition, Joined):
        return _joined(condition, to_query)
    if isinstance(condition, HasEmail) and condition.type is None and condition.value is not None:
        return {"emails.key": email_key(condition.value)}
    of_one = condition.condition if isinstance(condition, OneEmail) else condition
    return {"emails": {"$elemMatch": _of_email(of_one)}}


def _equals(condition: Equals) -> Document:
    key = _KEYS.get(condition.field)
    if key and isinstance(condition.value, str):
        return {key: folded(condition.value)}
    return {_STORED.get(condition.field, condition.field.value): condition.value}


def _joined(condition: Joined, query: Callable[[Condition], Document]) -> Document:
    if not condition.conditions:
        return {}
    return {"$and" if condition.needs_all else "$or": [query(part) for part in condition.conditions]}


def _of_email(condition: Condition) -> Document:
    """The query for an address itself."""
    if isinstance(condition, Joined):
        return _joined(condition, _of_email)
    assert isinstance(condition, HasEmail), condition
    value = {} if condition.value is None else {"key": email_key(condition.value)}
    if condition.type is None:
        return value
    # Upper and lower case are one in a type (RFC 7643, section 2.2: `caseExact` is false by default).
    return value | {"type": {"$regex": f"^{re.escape(condition.type)}$", "$options": "i"}}

"""Translates SCIM's filters into searches. What can't be searched for is refused as invalidFilter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scim2_models import InvalidFilterException, ScimFilter
from scim2_models.path import (
    AttrPath,
    CompareOperator,
    Comparison,
    FilterNode,
    FilterVisitor,
    LogicalExpr,
    LogicalOperator,
    Not,
    Present,
    ValuePath,
)

from backend.domain.accounts.provisioning.search import (
    EVERYTHING,
    Condition,
    Equals,
    HasEmail,
    Joined,
    OneEmail,
    SearchField,
)
from backend.domain.fields.rules import SURROGATE

_FIELDS: Mapping[tuple[str, str | None], SearchField] = {
    ("id", None): SearchField.ID,
    ("user_name", None): SearchField.USER_NAME,
    ("external_id", None): SearchField.EXTERNAL_ID,
    ("display_name", None): SearchField.DISPLAY_NAME,
    ("active", None): SearchField.ACTIVE,
    ("members", "value"): SearchField.MEMBER,
}
_KNOWN = "id, userName, externalId, displayName, active, emails.value, emails.type and members.value"


def condition_of(scim_filter: ScimFilter[Any] | None, model: Any) -> Condition | None:
    """What the filter asks for, of resources of this model; None if it names an attribute that they lack, so
    that none fits.

    Raises InvalidFilterException.
    """
    if scim_filter is None:
        return EVERYTHING
    try:
        return _Translator(ScimFilter[model](scim_filter.ast)).visit(scim_filter.ast)
    except _NoSuchAttribute:
        return None


class _NoSuchAttribute(Exception):
    """The model has no such attribute. The library has found out already whether another one has it."""


class _Translator(FilterVisitor[Condition]):
    def __init__(self, scim_filter: ScimFilter[Any], within: str = "") -> None:
        self._filter = scim_filter
        self._within = within

    def visit_comparison(self, node: Comparison) -> Condition:
        if node.op is not CompareOperator.eq or not isinstance(node.value, str | bool):
            raise InvalidFilterException(detail=f"{node}: only eq with a text, true or false is supported")
        if isinstance(node.value, str) and SURROGATE.search(node.value):
            raise InvalidFilterException(detail=f"{node}: must be valid Unicode, without lone surrogates")
        field, part = self._names(node.attr_path)
        if field == "emails" and part in {"value", "type"} and isinstance(node.value, str):
            return HasEmail(**{part: node.value})
        if (field, part) not in _FIELDS:
            raise _refusal(node)
        searched = _FIELDS[field, part]
        return Equals(searched, _truth(node) if searched is SearchField.ACTIVE else node.value)

    def visit_logical_expr(self, node: LogicalExpr) -> Condition:
        parts = tuple(self.visit(term) for term in node.terms)
        return Joined(parts, needs_all=node.op is LogicalOperator.and_)

    def visit_value_path(self, node: ValuePath) -> Condition:
        inner = _Translator(self._filter, node.attr_path.attr).visit(node.val_filter)
        return OneEmail(inner) if node.attr_path.attr.lower() == "emails" else inner

    def visit_present(self, node: Present) -> Condition:
        raise InvalidFilterException(detail=f"{node}: pr is not supported")

    def visit_not(self, node: Not) -> Condition:
        raise InvalidFilterException(detail=f"{node}: not is not supported")

    def _names(self, path: AttrPath) -> tuple[str, str | None]:
        """The attribute, and the part of it, that a path means."""
        whole = AttrPath(self._within, path.attr) if self._within else path
        binding = self._filter.resolve_comparison(whole, strict=False)
        if binding is None:
            raise _NoSuchAttribute
        return binding.field_name, binding.sub_field_name


def _truth(node: Comparison) -> bool:
    """Some providers write a truth as a text, in any case. Raises InvalidFilterException for another text."""
    truth = {"true": True, "false": False}.get(str(node.value).lower())
    if truth is None:
        raise InvalidFilterException(detail=f"{node}: active is true or false")
    return truth


def _refusal(node: FilterNode) -> InvalidFilterException:
    return InvalidFilterException(detail=f"{node}: only {_KNOWN} can be searched for")

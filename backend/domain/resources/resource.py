"""A resource: what an organization makes, lists, changes and deletes by itself, described once.

From the value follow the collection and what is stored (storage/resources), the operations of REST
(rest_api/resources), commands (cli/resource_group), the check of archives (archived_documents/resources) and
a test of all resources (tests/resources). CONTRIBUTING.md says how to add one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

from backend.domain.accounts.permissions import Permission
from backend.domain.fields.answer_schemas import UUID, answer_object
from backend.domain.fields.rules import Rule, Schema
from backend.domain.ids import OrgId
from backend.domain.resources.resource_field import CommandOption, MadeBy, ResourceField, plain_json

ThingT = TypeVar("ThingT")


class FilterOperator(Enum):
    """How a filter of a list compares a stored field with what is asked for."""

    EQUALS = "equals"
    FROM = "from"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class ListFilter:
    """A filter of a list: the rule of what is asked for, and the stored field that is compared with it."""

    rule: Rule[Any]
    meaning: str
    field: str
    operator: FilterOperator
    option: CommandOption


class Verb(Enum):
    """What is done with a resource."""

    LIST = "list"
    ADD = "add"
    GET = "get"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class RestOperation:
    """The name of an operation, which stands in the OpenAPI document, and what it does in a few words."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestNames:
    """How REST names a resource: its `path`, what its id is called in paths, the error of an id that nothing
    has, the schemas of one and of a list, and the field of the list's answer.

    A verb without an operation has none, or one that is written by itself.
    """

    path: str
    id_name: str
    id_meaning: str
    thing: str  # in errors: "Annotation"
    not_found: str
    schema: str
    list_schema: str
    listed: str
    operations: Mapping[Verb, RestOperation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Generic[ThingT]):
    """What an organization makes, lists, changes and deletes by itself.

    `thing` makes one, of its id, `org_id` and what documents have of the `fields`. `completed` says what is
    stored of parsed fields, of a new one or of a change of the one before, where fields have to fit each
    other; what it gives is stored as a whole. `one` and `several` are
    what people call them. An organization has at most about `most`: two that are made at the same moment may
    exceed it. `too_many_at` is the field that is said to be one too many. Lists are in the order of these
    stored fields.

    Whoever lists needs `reads`, whoever changes needs `writes`. The audit log calls one `audit_kind`, and by
    the field `known_by`. `why_not_personal` says why no document is about a visitor. `pages` are the
    endpoints of the dashboard's page with the list, and of its forms.
    """

    collection: str
    thing: Callable[..., ThingT]
    one: str
    several: str
    fields: Mapping[str, ResourceField]
    completed: Callable[[Mapping[str, Any], ThingT | None], Mapping[str, Any]] | None = None
    most: int
    too_many_at: str
    order: tuple[str, ...]
    filters: Mapping[str, ListFilter] = field(default_factory=dict)
    reads: Permission
    writes: Permission
    audit_kind: str
    known_by: str
    why_not_personal: str
    rest: RestNames
    pages: Mapping[Verb, str] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, Rule[Any]]:
        """The rules of the fields that requests may have."""
        return {name: own.rule for name, own in self.fields.items() if own.is_told}

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that a new one must have."""
        return tuple(name for name, own in self.fields.items() if own.is_required)

    @property
    def clearable(self) -> frozenset[str]:
        """The fields that requests may clear."""
        return frozenset(name for name, own in self.fields.items() if own.is_clearable)

    def stored_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """These values, parsed by the rules of their fields, as documents have them."""
        stored: dict[str, Any] = {}
        for name, value in values.items():
            stored |= self.fields[name].stored_values(name, value)
        return stored

    def new_values(self, told: Mapping[str, Any], now: datetime, made_by: MadeBy) -> dict[str, Any]:
        """All values of a new one that is told these: a field that is not told is None."""
        own = {"created_at": now, "created_by": made_by}
        return {name: told.get(name) if of.is_told else own[name] for name, of in self.fields.items()}

    def from_stored(self, given_id: str, org_id: OrgId, document: Mapping[str, Any]) -> ThingT:
        """The thing that a document has. Fields that no resource has are left out: a newer version of the
        service on another host may have stored more."""
        values = {
            stored: document[stored] if own.stored else own.load(document[stored])
            for name, own in self.fields.items()
            for stored in own.stored_rules(name)
            if stored in document
        }
        return self.thing(id=given_id, org_id=org_id, **values)

    def to_json(self, thing: Any) -> dict[str, Any]:
        """The thing as answers show it."""
        return {"id": thing.id} | {
            name: own.shown(thing) if own.shown else plain_json(getattr(thing, name))
            for name, own in self.fields.items()
        }

    def schema(self) -> Schema:
        """JSON Schema of what `to_json` gives."""
        return answer_object(id=UUID, **{name: own.answer_schema for name, own in self.fields.items()})

"""The shape of a collection's documents, which follows from the dataclass that they are read as.

Three things follow from it: the document of a record, the record in a document, and the check of what an
archive has of them (storage/lifecycle/archived_documents). The types of the dataclass's fields say how values
are stored, read and checked. Rules say what a type can't.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import cache, cached_property, partial
from types import NoneType, UnionType
from typing import Any, Generic, NamedTuple, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from backend.domain.feed.cursor import Cursor
from backend.domain.fields.rules import Flag, Uuid, parse_string
from backend.domain.ids import CustomerId
from backend.storage.driver.mongo import Document
from backend.storage.schema.document_fields import (
    DocumentFields,
    Parse,
    anything,
    as_stored,
    binary,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    text,
    time,
)

RecordT = TypeVar("RecordT")
Load = Callable[[Any], Any]


def stored(value: Any) -> Any:
    """The value as documents have it. One that is so already stays as it is."""
    match value:
        case StrEnum():
            return value.value
        case tuple() | list():
            return [stored(item) for item in value]
        case Mapping():
            return stored_values(value)
        case Cursor():
            return str(value)
    names = getattr(value, "__dataclass_fields__", ())
    return {name: stored(getattr(value, name)) for name in names} if names else value


def stored_values(values: Mapping[str, Any]) -> Document:
    """Values by their names as documents have them."""
    return {str(name): stored(value) for name, value in values.items()}


def with_default(record: type) -> Set[str]:
    """The names of a dataclass's fields that have a default."""
    own = fields(record)
    return {one.name for one in own if (one.default, one.default_factory) != (MISSING, MISSING)}


class ValueForm(NamedTuple):
    """How a value of a type is checked in a document, and how it is read; None: it stays as it is."""

    check: Parse
    load: Load | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentShape(Generic[RecordT]):
    """Documents that are read as a `record`.

    `rules` check single fields beyond what their types say; what a rule gives is compared with the document
    in its stored form. `loads` read what its type does not say how to read. Documents of earlier versions may
    lack fields that are `optional`, which have a default. Documents also have the fields that are
    `only_stored`, and some those that are `stored_at_times`. The record's field `id_field` is the `_id`, with
    `is_id_within_org` behind the organization's id and a slash. Documents in documents have none (None).
    """

    record: type[RecordT]
    rules: Mapping[str, Parse] = field(default_factory=dict)
    loads: Mapping[str, Load] = field(default_factory=dict)
    optional: Set[str] = frozenset()
    only_stored: Mapping[str, Parse] = field(default_factory=dict)
    stored_at_times: Mapping[str, Parse] = field(default_factory=dict)
    id_field: str | None = "id"
    is_id_within_org: bool = False

    def __post_init__(self) -> None:
        """Raise TypeError for the name of what is no field of the record."""
        known = {one.name for one in fields(self.record)}  # type: ignore[arg-type]
        if unknown := {*self.rules, *self.loads, *self.optional} - known:
            raise TypeError(f"{self.record.__name__} has no {', '.join(sorted(unknown))}")

    def to_document(self, record: RecordT) -> Document:
        """The document of a record, without the fields that no record has."""
        values: Document = stored(record)
        if self.id_field is None:
            return values
        own_id = values.pop(self.id_field)
        return {"_id": f"{values['org_id']}/{own_id}" if self.is_id_within_org else own_id, **values}

    def from_document(self, document: Document) -> RecordT:
        """The record in a document.

        Other fields are left out: a newer version of the service on another host may have stored more.
        Raises TypeError for another value that a damaged document has in its place: it has no field of the
        record, but must not pass for one whose fields have their defaults, such as rules that allow all.
        """
        if not isinstance(document, dict):
            raise TypeError(f"{self.record.__name__} is stored as {type(document).__name__}")
        values = {
            name: load(document[name]) if load else document[name]
            for name, load in self._loads
            if name in document
        }
        if self.id_field:
            own_id = document["_id"]
            values[self.id_field] = own_id.rpartition("/")[2] if self.is_id_within_org else own_id
        return self.record(**values)

    def check(self, document: Document) -> None:
        """Raise InvalidField, ValueError or TypeError for a field that breaks a rule; not for the `_id`."""
        self.fields.check(document)

    def check_with_uuid(self, document: Document) -> None:
        """As `check`, and also where the `_id` is no UUID."""
        self.check(document)
        as_stored("_id", document["_id"], Uuid().parse)

    @cached_property
    def fields(self) -> DocumentFields:
        """The checks of the fields."""
        checks = {name: form.check for name, form in self._forms.items() if name != "org_id"}
        lacked = {name: check for name, check in checks.items() if name in self.optional}
        required = {name: check for name, check in checks.items() if name not in lacked}
        return DocumentFields({**required, **self.only_stored}, {**lacked, **self.stored_at_times})

    @cached_property
    def _forms(self) -> Mapping[str, ValueForm]:
        hints = {name: hint for name, hint in get_type_hints(self.record).items() if name != self.id_field}
        return {name: _form(hint, self.rules.get(name)) for name, hint in hints.items()}

    @cached_property
    def _loads(self) -> list[tuple[str, Load | None]]:
        return [(name, self.loads.get(name, form.load)) for name, form in self._forms.items()]


def cursor_text(name: str, value: object) -> object:
    """The text of a cursor."""
    return str(Cursor.parse(parse_string(name, value)))


_PLAIN: Mapping[Any, ValueForm] = {
    str: ValueForm(text),
    bool: ValueForm(Flag().parse),
    int: ValueForm(integer),
    bytes: ValueForm(binary),
    datetime: ValueForm(time),
    CustomerId: ValueForm(text),  # the organization's own name for somebody
    Cursor: ValueForm(cursor_text, Cursor.parse),
}


def _form(hint: Any, rule: Parse | None = None) -> ValueForm:
    """The form of values of this type, checked by the rule if there is one."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        [inner] = [_form(argument, rule) for argument in arguments if argument is not NoneType]
        return ValueForm(or_none(inner.check), inner.load and partial(_load_some, inner.load))
    form = _form_of_several(origin, arguments) if origin else _form_of_class(hint)
    return form._replace(check=_by_rule(rule)) if rule else form


def _by_rule(rule: Parse) -> Parse:
    return lambda name, value: stored(rule(name, value))


def _load_some(load: Load, value: Any) -> Any:
    return None if value is None else load(value)


def _form_of_several(origin: Any, arguments: tuple[Any, ...]) -> ValueForm:
    """The form of a list, or of a document by any names, which a rule has to check."""
    if origin is not tuple:
        return ValueForm(anything)
    inner = _form(arguments[0])
    load: Load = tuple if inner.load is None else partial(_load_each, inner.load)
    return ValueForm(list_of(inner.check, None), load)


def _load_each(load: Load, values: Any) -> Any:
    return tuple(map(load, values))


@cache
def _form_of_class(hint: Any) -> ValueForm:
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, NewType):  # an id
        return ValueForm(Uuid().parse)
    if issubclass(hint, StrEnum):
        return ValueForm(one_of(hint), hint)
    shape = DocumentShape(record=hint, optional=with_default(hint), id_field=None)
    return ValueForm(nested(shape.fields), shape.from_document)

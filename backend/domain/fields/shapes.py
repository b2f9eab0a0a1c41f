"""Shapes: a typed dictionary says once which fields an answer, or an event's data, has.

Two things follow from its types: the JSON Schema of such an object (`schema_of`), and the object itself, from
what has the values (`json_of`). In `Annotated`, a text says what a field means, and a `JsonForm` how its
values are written. The docstring says what the object is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from backend.domain.fields import answer_schemas as schemas
from backend.domain.fields.rules import Schema
from backend.domain.fields.times.json_times import exact_time_json, time_json

JsonShape = type[Mapping[str, Any]]
ShapeT = TypeVar("ShapeT", bound=Mapping[str, Any])
WriteJson = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class JsonForm:
    """The form of a value: its JSON Schema, and how it is written; None: as it is."""

    schema: Schema
    write: WriteJson | None = None
    is_required: bool = True

    def described(self, meaning: str) -> JsonForm:
        """The form with what its value means."""
        return replace(self, schema=self.schema | {"description": meaning})


_PLAIN: Mapping[Any, JsonForm] = {
    str: JsonForm(schemas.TEXT),
    bool: JsonForm({"type": "boolean"}),
    int: JsonForm({"type": "integer"}),
    float: JsonForm({"type": "number"}),
}
# An object of any fields.
AnyObject = dict[str, Any]
ANY_OBJECT: Schema = schemas.ANYTHING
AMOUNT: Schema = {"type": "string", "pattern": r"^[0-9]+([.][0-9]+)?$"}
# What fields have besides plain types. Times are written from those of Python, amounts from decimals.
UuidText = Annotated[str, JsonForm(schemas.UUID)]
TimeText = Annotated[str, JsonForm(schemas.TIME, time_json)]
InstantText = Annotated[str, JsonForm(schemas.INSTANT, exact_time_json)]
Count = Annotated[int, JsonForm(schemas.COUNT)]
AmountText = Annotated[str, JsonForm(AMOUNT, "{:f}".format)]
CurrencyText = Annotated[str, JsonForm({"type": "string", "pattern": "^[A-Z]{3}$"})]
Sha256Text = Annotated[str, JsonForm({"type": "string", "pattern": "^[0-9a-f]{64}$"})]


@cache
def schema_of(shape: JsonShape) -> Schema:
    """JSON Schema of an object of this shape, which may have more fields: later versions add some."""
    forms = _forms(shape)
    described = {"description": " ".join(shape.__doc__.split())} if shape.__doc__ else {}
    return {
        "type": "object",
        **described,
        "required": [name for name, form in forms.items() if form.is_required],
        "properties": {name: form.schema for name, form in forms.items()},
    }


def json_of(shape: type[ShapeT], thing: object, /, **values: Any) -> ShapeT:
    """The object of this shape. A field that is not among `values` is the thing's, by the same name.

    The thing has attributes, or is a mapping. A field that is not required is there if `values` has it.
    Raises TypeError for a value that is no field's.
    """
    plan = _plan(shape, tuple(values))
    written: dict[str, Any] = dict.fromkeys(plan.names)
    read = plan.items if isinstance(thing, Mapping) else plan.attributes
    written.update(zip(plan.read, read(thing), strict=True), **values)
    for name, write in plan.written:
        if (value := written[name]) is not None:
            written[name] = write(value)
    return written  # type: ignore[return-value]  # it has the fields of the shape


class _Plan(NamedTuple):
    """The names of an object's fields, which of them are read from the thing, and how some are written."""

    names: tuple[str, ...]
    read: tuple[str, ...]
    attributes: Callable[[Any], Iterable[Any]]
    items: Callable[[Any], Iterable[Any]]
    written: tuple[tuple[str, WriteJson], ...]


@cache
def _plan(shape: JsonShape, given: tuple[str, ...]) -> _Plan:
    """How objects of the shape are made where these fields are given."""
    forms = {name: form for name, form in _forms(shape).items() if form.is_required or name in given}
    if unknown := set(given) - forms.keys():
        raise TypeError(f"{shape.__name__} has no {', '.join(sorted(unknown))}")
    read = tuple(name for name in forms if name not in given)
    return _Plan(
        tuple(forms),
        read,
        _reader(attrgetter, read),
        _reader(itemgetter, read),
        tuple((name, form.write) for name, form in forms.items() if form.write),
    )


def _reader(getter: Any, names: tuple[str, ...]) -> Callable[[Any], Iterable[Any]]:
    """What reads the values of these names; those that `operator` has are the quickest, but need two."""
    if len(names) > 1:
        return getter(*names)  # type: ignore[no-any-return]
    return lambda thing: [getter(name)(thing) for name in names]


@cache
def _forms(shape: JsonShape) -> Mapping[str, JsonForm]:
    """The forms of the shape's fields by their names, in their order."""
    return {name: _form(hint) for name, hint in get_type_hints(shape, include_extras=True).items()}


def _form(hint: Any) -> JsonForm:
    """The form of values of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(hint.__origin__, hint.__metadata__)
    if origin is NotRequired:
        return replace(_form(arguments[0]), is_required=False)
    if origin in {Union, UnionType}:
        [inner] = [_form(argument) for argument in arguments if argument is not NoneType]
        return JsonForm(schemas.or_null(inner.schema), inner.write)
    return _form_of_several(origin, arguments) if origin else _form_of_class(hint)


def _form_of_class(hint: Any) -> JsonForm:
    if is_typeddict(hint):
        return JsonForm(schema_of(hint), partial(json_of, hint))
    if isinstance(hint, NewType):  # an id
        return _form(hint.__supertype__)
    if issubclass(hint, Enum):
        return JsonForm({"type": "string", "enum": [member.value for member in hint]}, str)
    return _PLAIN[hint]


def _annotated(inner: Any, metadata: tuple[Any, ...]) -> JsonForm:
    form = next((said for said in metadata if isinstance(said, JsonForm)), None) or _form(inner)
    meaning = next((said for said in metadata if isinstance(said, str)), None)
    return form.described(meaning) if meaning else form


def _form_of_several(origin: Any, arguments: tuple[Any, ...]) -> JsonForm:
    """The form of a list, of an object by any names, or of one of several texts."""
    if origin is Literal:
        return JsonForm({"type": "string", "enum": list(arguments)})
    inner = JsonForm({}) if arguments[-1] is Any else _form(arguments[-1])
    if origin is dict:
        return JsonForm({"type": "object", "additionalProperties": inner.schema or True}, dict)
    write = inner.write
    each = list if write is None else lambda values: [write(value) for value in values]
    return JsonForm({"type": "array", "items": inner.schema}, each)

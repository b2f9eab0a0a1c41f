"""Shapes: what follows from the types of an object's fields."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal, NotRequired, TypedDict

import jsonschema_rs
import pytest

from backend.domain.fields.shapes import (
    AmountText,
    Count,
    InstantText,
    TimeText,
    UuidText,
    json_of,
    schema_of,
)

AT = datetime(2026, 3, 1, 12, 0, 0, 123456, UTC)


class Color(StrEnum):
    """A closed set of words."""

    RED = "red"


class Part(TypedDict):
    """A part."""

    at: InstantText


class Whole(TypedDict):
    """A whole, which is described
    on two lines."""

    id: Annotated[UuidText, "Its id."]
    made_at: TimeText | None
    price: AmountText
    color: Color
    size: Literal["small", "large"]
    parts: Annotated[list[Part], "What it is made of."]
    counts: dict[str, Count]
    note: NotRequired[str]


@dataclass
class Thing:
    """What a whole is read from; its parts are objects with attributes, too."""

    id: str = "00000000-0000-4000-8000-000000000000"
    made_at: datetime | None = AT
    price: Decimal = Decimal("1E+1")
    color: Color = Color.RED
    at: datetime = AT
    note: str = "not asked for"


def test_an_object_has_the_fields_of_its_shape_in_their_order() -> None:
    """Values are the thing's or are given, and are written by their types."""
    thing = Thing()
    whole = json_of(Whole, thing, size="small", parts=(thing, {"at": AT}), counts={"a": 1})
    assert list(whole.items()) == [
        ("id", thing.id),
        ("made_at", "2026-03-01T12:00:00Z"),
        ("price", "10"),
        ("color", "red"),
        ("size", "small"),
        ("parts", [{"at": "2026-03-01T12:00:00.123Z"}] * 2),
        ("counts", {"a": 1}),
    ]
    assert type(whole["color"]) is str
    jsonschema_rs.validator_for(schema_of(Whole)).validate(whole)
    given = json_of(Whole, {**whole, "price": 1}, made_at=None, parts=[], price=Decimal("0.50"), note="yes")
    assert (given["made_at"], given["price"], given["note"]) == (None, "0.50", "yes")


def test_a_value_of_no_field_is_refused() -> None:
    """A name that the shape does not have is a mistake, not a value that gets lost."""
    with pytest.raises(TypeError, match=r"^Part has no of, when$"):
        json_of(Part, Thing(), when=AT, of=1)


def test_the_schema_says_what_the_types_say() -> None:
    """What is required, null, or one of some words follows from types; meanings from texts and docstrings."""
    schema = schema_of(Whole)
    assert schema["description"] == "A whole, which is described on two lines."
    assert schema["required"] == ["id", "made_at", "price", "color", "size", "parts", "counts"]
    fields = schema["properties"]
    assert fields["id"] == {"type": "string", "format": "uuid", "description": "Its id."}
    assert [kind["type"] for kind in fields["made_at"]["anyOf"]] == ["string", "null"]
    assert fields["color"] == {"type": "string", "enum": ["red"]}
    assert fields["size"] == {"type": "string", "enum": ["small", "large"]}
    assert fields["parts"] == {
        "type": "array",
        "items": schema_of(Part),
        "description": "What it is made of.",
    }
    assert fields["counts"] == {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
    assert fields["note"] == {"type": "string"}

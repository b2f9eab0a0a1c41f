"""What the routes of an organization's named items, such as tags, share: reading bodies, and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from backend.domain.errors import FieldError, InvalidField, MissingField, raise_all, shown_name
from backend.domain.fields.item_names import NameTaken, NameUnknown, TooManyItems
from backend.domain.fields.rules import Rule, parse_fields
from backend.json_api.api_error import ApiError
from backend.json_api.error_table import ErrorRow
from backend.json_api.json_body import read_json_object


@contextmanager
def item_errors(*, unknown: ErrorRow, taken: ErrorRow, most: int) -> Iterator[None]:
    """Raise the ApiError for what the storage of named items raises in the block.

    `unknown` and `taken` are rows of the error table. Raises InvalidField where there are `most` items.
    """
    try:
        yield
    except NameUnknown:
        raise ApiError(unknown) from None
    except NameTaken:
        raise ApiError(taken) from None
    except TooManyItems:
        raise InvalidField("name", f"would be one more than the {most:,} that are possible") from None


async def read_item(
    rules: Mapping[str, Rule[Any]], *, required: Sequence[str] = (), clearable: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields in the current request's body, which must have those of `required`.

    Null, and for a text "", stand for a field of `clearable` that is not set. Raises MissingField and
    InvalidField, with the errors of all fields.
    """
    body = await read_json_object()
    errors: list[FieldError] = [
        InvalidField(shown_name(name), "is not a field of this request") for name in body if name not in rules
    ]
    for name in required:
        if body.get(name) is None:
            body.pop(name, None)
            errors.append(MissingField(name))
    cleared = {name: None for name in clearable if body.get(name, 0) in (None, "")}
    given = {name: value for name, value in body.items() if name not in cleared}
    fields = parse_fields(rules, given, errors)
    raise_all(errors)
    return cleared | fields

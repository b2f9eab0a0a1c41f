"""What the operations on an organization's tags and on its UTM templates share: names, and their errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import ItemName, NameTaken, NameUnknown, TooManyItems
from backend.json_api.api_error import ApiError
from backend.json_api.error_table import ErrorRow
from backend.rest_api.routes.parameters import PathParameter


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


def name_in_path(unknown: ErrorRow) -> PathParameter:
    """The name of an item in a path. `unknown` is the error of a name that no item has."""
    meaning = "The name, in any case; / in it may stay as it is."
    return PathParameter("name", ItemName().schema(), meaning, errors=(unknown,))

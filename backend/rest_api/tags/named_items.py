"""What the operations on an organization's tags and on its UTM templates share: names, and one taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backend.domain.fields.item_names import ItemName, NameTaken
from backend.json_api.api_error import ApiError
from backend.json_api.error_table import ErrorRow
from backend.rest_api.routes.parameters import PathParameter


@contextmanager
def name_is_free(taken: ErrorRow) -> Iterator[None]:
    """Raise the ApiError of this row if another item has the name that the block stores."""
    try:
        yield
    except NameTaken:
        raise ApiError(taken) from None


def name_in_path(unknown: ErrorRow) -> PathParameter:
    """The name of an item in a path. `unknown` is the error of a name that no item has."""
    meaning = "The name, in any case; / in it may stay as it is."
    return PathParameter("name", ItemName().schema(), meaning, errors=(unknown,))

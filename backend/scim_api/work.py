"""How much work a call may ask for. The library parses filters and paths, a second for 100 KB of them, during
which the process answers nobody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scim2_models import InvalidFilterException, InvalidValueException
from scim2_server.requests import ScimRequest

_MOST_SEARCH_BYTES = 8 * 1024
# A provider that sends each member of a group by itself sends some hundreds at once, with 60 characters each.
MOST_OPERATIONS = 1_000
_MOST_PATH_CHARACTERS = 100_000


def check_work(call: ScimRequest) -> None:
    """Raise InvalidFilterException or InvalidValueException for a call that asks for too much."""
    is_search = call.path.rstrip("/").endswith("/.search")
    if len(call.body if is_search else call.query.get("filter", "")) > _MOST_SEARCH_BYTES:
        raise InvalidFilterException(detail=f"A search must have at most {_MOST_SEARCH_BYTES} bytes")
    if call.method == "PATCH":
        operations = list(_operations(call.body))
        if len(operations) > MOST_OPERATIONS:
            raise InvalidValueException(detail=f"Operations must have at most {MOST_OPERATIONS} entries")
        if sum(map(_length_of_path, operations)) > _MOST_PATH_CHARACTERS:
            raise InvalidValueException(
                detail=f"All paths together must have at most {_MOST_PATH_CHARACTERS} characters"
            )


def _operations(body: bytes) -> Iterator[Any]:
    """The operations of a PATCH, in any case of the name; none of a body that the library refuses."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return
    for name, value in document.items() if isinstance(document, dict) else ():
        if name.lower() == "operations" and isinstance(value, list):
            yield from value


def _length_of_path(operation: Any) -> int:
    fields = operation.items() if isinstance(operation, dict) else ()
    return sum(len(value) for name, value in fields if name.lower() == "path" and isinstance(value, str))

"""What a page's forms saw of stored things, so that a later save does not undo another's change.

The view that shows a form and the one that stores it have the mark `of_stored`, with a function that reads
what is stored as the form's fields have it. Each form sends a hash of each field as its page read it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from quart import current_app, request

from backend.dashboard.frame.blueprint import dashboard
from backend.dashboard.frame.form import field, form, is_form_sent
from backend.web.current import of_request

ViewT = TypeVar("ViewT", bound=Callable[..., object])
# Reads what is stored, by the names of a form's fields. Gets what the view gets.
ReadStored = Callable[..., Awaitable[Mapping[str, str]]]
# The field with the hashes, and the length of each.
SAW = "form_saw"
_HASH = 10


class OutdatedForm(Exception):
    """What a form changes is not any more what its page has shown. `stored` is what it is."""

    def __init__(self, stored: Mapping[str, str]) -> None:
        super().__init__("changed meanwhile")
        self.stored = stored


@dataclass(slots=True)
class _Saw:
    hashes: str = ""
    stored: Mapping[str, str] | None = None


def of_stored(read: ReadStored) -> Callable[[ViewT], ViewT]:
    """Mark a view that shows, or stores, a form whose fields have these values at the moment.

    A form is compared by the fields that `read` returns for the view that stores it, which may be fewer.
    """

    def mark(view: ViewT) -> ViewT:
        view.reads_stored = read  # type: ignore[attr-defined]
        return view

    return mark


def field_of(name: str) -> str:
    """The form's field for this one of the stored. A list has a form for each of its things, whose stored
    fields are named with the thing's id, such as role-ID."""
    return name if name in form() else name.partition("-")[0]


def saw() -> str:
    """What the forms of the current page send as SAW."""
    return of_request(_Saw).hashes


def stored_fields() -> Mapping[str, str]:
    """What is stored, as the form of the current request's view has it."""
    stored = of_request(_Saw).stored
    assert stored is not None  # only for views with the mark
    return stored


def is_unchanged(*names: str) -> bool:
    """Whether the form that was sent has in all these fields what is stored.

    Then they are left out of what is stored. A field may show less than is stored, such as a time without its
    seconds, or the name of something that was deleted.
    """
    return all(field(name) == stored_fields().get(name, "").strip() for name in names)


def hashes_of(stored: Mapping[str, str]) -> str:
    """A hash of each field with its value, one behind the other."""
    return "".join(sorted(_hash(name, value) for name, value in stored.items()))


@dashboard.before_request
async def _compare() -> None:
    """Raises OutdatedForm."""
    read: ReadStored | None = getattr(
        current_app.view_functions[request.endpoint or ""], "reads_stored", None
    )
    if read is None:
        return
    current, sent = of_request(_Saw), form().get(SAW, "")
    current.stored = await read(**(request.view_args or {}))
    current.hashes = sent if is_form_sent() else hashes_of(current.stored)
    if is_form_sent() and not _saw_it(sent, current.stored) and not _is_stored_already(current.stored):
        raise OutdatedForm(current.stored)


def _saw_it(sent: str, stored: Mapping[str, str]) -> bool:
    seen = {sent[at : at + _HASH] for at in range(0, len(sent), _HASH)}
    return seen.issuperset(_hash(*named) for named in stored.items())


def _is_stored_already(stored: Mapping[str, str]) -> bool:
    """Whether the form undoes nothing, such as one that a double click sends twice."""
    return all(field(field_of(name)) == value.strip() for name, value in stored.items())


def _hash(name: str, value: str) -> str:
    return hashlib.sha256(json.dumps([name, value]).encode()).hexdigest()[:_HASH]

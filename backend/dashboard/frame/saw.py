"""What a page's forms saw of stored things, so that a later save does not undo another's change.

The view that shows a form and the one that stores it have the mark `of_stored`, with a function that reads
what is stored as the form's fields have it. Each form sends a hash of each field as its page read it. They
are compared before the view, and again in the transaction that stores the form.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from quart import Response, current_app, request

from backend.dashboard.frame.blueprint import dashboard
from backend.dashboard.frame.form import digest_of, form, is_form_sent
from backend.dashboard.frame.form import field as sent_field
from backend.storage.driver.guards import Guarded, guard_next_transaction
from backend.storage.driver.in_session import read_in
from backend.storage.driver.mongo import ClientSession
from backend.web.current import of_request, reading_from, resources

ViewT = TypeVar("ViewT", bound=Callable[..., object])
# Reads what is stored, by the names of a form's fields. Gets what the view gets.
ReadStored = Callable[..., Awaitable[Mapping[str, str]]]
# The texts of stored fields that the sent form has otherwise, such as the list of all boxes that are ticked.
ReadSent = Callable[[], Mapping[str, str]]
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
    sent: Mapping[str, str] = field(default_factory=dict)
    guarded: Guarded | None = None


def of_stored(read: ReadStored, sent: ReadSent = dict) -> Callable[[ViewT], ViewT]:
    """Mark a view that shows, or stores, a form whose fields have these values at the moment.

    A form is compared by the fields that `read` returns for the view that stores it, which may be fewer.
    """

    def mark(view: ViewT) -> ViewT:
        view.reads_stored, view.reads_sent = read, sent  # type: ignore[attr-defined]
        return view

    return mark


def text_of(value: str | int | None) -> str:
    """A stored value as a form's field has it. A box that is ticked is "on"."""
    return ("on" if value else "") if isinstance(value, bool) else str(value or "")


def sent_text(name: str) -> str:
    """What the sent form has for this one of the stored fields."""
    sent = of_request(_Saw).sent
    return sent[name] if name in sent else sent_field(name)


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
    return all(sent_text(name) == stored_fields().get(name, "").strip() for name in names)


def hashes_of(stored: Mapping[str, str]) -> str:
    """A hash of each field with its value, one behind the other."""
    return "".join(sorted(_hash(name, value) for name, value in stored.items()))


@dashboard.before_request
async def _compare() -> None:
    """Raises OutdatedForm."""
    view: Any = current_app.view_functions[request.endpoint or ""]
    if not hasattr(view, "reads_stored"):
        return
    current = of_request(_Saw)
    current.stored = await view.reads_stored(**(request.view_args or {}))
    if not is_form_sent():
        current.hashes = hashes_of(current.stored)
        return
    current.hashes, current.sent = form().get(SAW, ""), view.reads_sent()
    if _puts_back(current.hashes, current.stored):
        raise OutdatedForm(current.stored)
    current.guarded = guard_next_transaction(partial(_compare_within, view.reads_stored))


@dashboard.after_request
async def _compare_no_more(response: Response) -> Response:
    if guarded := of_request(_Saw).guarded:
        guarded.end()  # for what the request has left at work
    return response


async def _compare_within(read: ReadStored, session: ClientSession) -> None:
    """Compare once more, in the transaction that stores the form: what another writes meanwhile is seen, or
    ends that transaction. Raises OutdatedForm."""
    with reading_from(read_in(session, resources().database)):
        stored = await read(**(request.view_args or {}))
    if _puts_back(of_request(_Saw).hashes, stored):
        raise OutdatedForm(stored)


def _puts_back(saw: str, stored: Mapping[str, str]) -> bool:
    """Whether the form has anything else than what is stored in a field that its page has shown otherwise.

    One that a double click sends twice puts nothing back.
    """
    seen = {saw[at : at + _HASH] for at in range(0, len(saw), _HASH)}
    return any(
        _hash(name, value) not in seen and sent_text(name) != value.strip() for name, value in stored.items()
    )


def _hash(name: str, value: str) -> str:
    return digest_of([name, value])[:_HASH]

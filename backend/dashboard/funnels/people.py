"""/funnels/ID/people: the devices or customers that a number of a funnel counts.

Who opens it: whoever asks who stopped before paying, to write to them, or doubts a number. They come from a
step or a group, and go on to a customer's history or to the sale.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.rows_behind import customer_address, sale_address
from backend.dashboard.analytics.time_zone import time_in_words
from backend.dashboard.analytics.view import PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, may_open, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.frame.paging import PAGE_SIZE, Paging, paging
from backend.dashboard.funnels.grouping import funnel_view
from backend.dashboard.funnels.shown import people_word, step_name
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.funnels.funnel import MOST_STEPS, Funnel, FunnelQuery
from backend.domain.analytics.funnels.people import FunnelGroupKey, FunnelPart, FunnelPerson
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.ids import FunnelId, LinkId
from backend.storage.analytics.query_questions import AskFunnelPeople
from backend.storage.resources.things import Things
from backend.web.current import resources

_STEP, _OF, _GROUP = "step", "of", "group"
_STOPPED = "stopped"
_TABS = {"went": "Did this step", _STOPPED: "Stopped here"}
# In an address: before a group's value, before its kind, and a group without a value.
_VALUE, _KIND, _NONE = "=", "!", "-"
_SHOWN_OF_DEVICE = 8


class _AnyGroup:
    """All texts that name a group."""

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and (text == _NONE or text[:1] in {_VALUE, _KIND})


_CHOICES: dict[str, Container[str]] = {
    _STEP: tuple(map(str, range(1, MOST_STEPS + 1))),
    _OF: (_STOPPED,),
    _GROUP: _AnyGroup(),
}


@dataclass(frozen=True, slots=True)
class FunnelPersonRow:
    """Somebody in words; addresses are "" where nothing more can be shown."""

    name: str
    address: str
    began: str
    link_id: LinkId | None
    link_name: str
    got_to: str
    last: str
    order: str
    order_address: str


def group_argument(key: FunnelGroupKey) -> str:
    """The group as an address names it."""
    if key.kind:
        return f"{_KIND}{key.kind.value}"
    return _NONE if key.value is None else f"{_VALUE}{key.value}"


def people_address(
    view: View, funnel_id: FunnelId, step: int, stopped: bool = False, group: FunnelGroupKey | None = None
) -> str:
    """The page of who did the step of this number, or stopped there, of one group if it is given.

    "" for a user who may not see it.
    """
    if not may_open("funnels_people"):
        return ""
    return view.address(
        url_for("dashboard.funnels_people", funnel_id=funnel_id),
        step=str(step + 1),
        of=_STOPPED if stopped else None,
        group=group_argument(group) if group else None,
    )


@dashboard.get("/funnels/<funnel_id>/people")
@needs(Permission.ANALYTICS_READ, Permission.PERSONS_READ)
async def funnels_people(funnel_id: FunnelId) -> Response:
    """A page of the people that the address names."""
    saved = await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id)
    view, funnel, part = await asked_part(saved)
    return await page(
        "funnels/people.html",
        422 if view.errors else 200,
        later=partial(_content, saved, funnel, view, part, paging()),
        view=view,
        saved=saved,
        step=step_name(part.step, funnel.steps[part.step]),
        back=view.address(
            url_for("dashboard.funnels_one", funnel_id=saved.id), **{_STEP: None, _OF: None, _GROUP: None}
        ),
    )


async def asked_part(saved: SavedFunnel) -> tuple[View, Funnel, FunnelPart]:
    """The view of the request, its funnel, and whose people the address names."""
    view, funnel = await funnel_view(saved, _CHOICES)
    step = min(int(view.others.get(_STEP, "1")), len(funnel.steps)) - 1
    return view, funnel, FunnelPart(step, _OF in view.others, _group(view.others.get(_GROUP, "")))


async def _content(
    saved: SavedFunnel, funnel: Funnel, view: View, part: FunnelPart, paged: Paging
) -> dict[str, Any]:
    query = FunnelQuery(funnel=funnel, period=view.period, now=resources().clock())
    question = AskFunnelPeople(query, part, PAGE_SIZE, paged.skip)
    found, total = await resources().analytics.ask(org_id(), question)
    is_last = part.step + 1 == len(funnel.steps)
    return {
        "path": url_for("dashboard.funnels_people", funnel_id=saved.id),
        "csv_path": url_for("dashboard.funnels_people_csv", funnel_id=saved.id),
        "presets": PRESETS,
        "tabs": {} if is_last else _TABS,
        "of": _STOPPED if part.stopped else "went",
        "people": people_word(funnel),
        "steps": len(funnel.steps),
        "total": total,
        "rows": [_row(person, funnel, view) for person in found],
        # What would be the same in all rows is left out.
        "has_places": not (is_last or part.stopped),
        "has_more": not part.stopped or part.step > 0,
        "has_orders": any(person.transaction_id for person in found),
        "paging": paged.with_total(total),
    }


def _group(text: str) -> FunnelGroupKey | None:
    """The group that an address names. A kind that does not exist is none."""
    if text.startswith(_VALUE):
        return FunnelGroupKey(text.removeprefix(_VALUE))
    if text == _NONE:
        return FunnelGroupKey(None)
    kind = next((kind for kind in RowKind if text == f"{_KIND}{kind.value}"), None)
    return FunnelGroupKey(None, kind) if kind else None


def _row(person: FunnelPerson, funnel: Funnel, view: View) -> FunnelPersonRow:
    name, address = "An unknown device", ""
    if person.customer_id:
        name = person.customer_id
        address = customer_address(person.customer_id)
    elif person.device_id:
        name = f"Device {person.device_id[:_SHOWN_OF_DEVICE]}…"
    done = len(person.times) - 1
    return FunnelPersonRow(
        name,
        address,
        time_in_words(person.times[0], view.zone),
        person.link_id,
        person.link_name or "–",
        step_name(done, funnel.steps[done]),
        time_in_words(person.times[done], view.zone) if done else "–",
        person.transaction_id or "",
        sale_address(person.transaction_id),
    )

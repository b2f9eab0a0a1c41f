"""/segments: the segments of the overview, and the form on the overview that saves one.

Who opens it: a marketer who looks at the same part of the figures every week, such as one campaign on phones.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from quart import Response, abort, redirect, url_for

from backend.dashboard.analytics.tables import NAMES, name_of
from backend.dashboard.analytics.view import FILTERS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.once import once
from backend.dashboard.frame.thing_list import ThingCell, ThingList, add_list
from backend.domain.analytics.query import Field
from backend.domain.analytics.segments import SEGMENTS, Segment
from backend.domain.errors import FieldError
from backend.storage.resources.things import Things
from backend.web.current import resources

_NAME, _FILTERS = "segment_name", "filters"


def _address(segment: Segment) -> str:
    filters = {name: value or "" for name, value in segment.filters.items()}
    return f"{url_for('dashboard.home')}?{urlencode(filters)}"


def _in_words(segment: Segment) -> str:
    return ", ".join(_filter_in_words(Field(name), value) for name, value in segment.filters.items())


def _filter_in_words(by: Field, value: str | None) -> str:
    words = "one of them" if by is Field.LINK and value else name_of(by, value, {})
    return f"{NAMES[by]}: {words}"


_LIST = ThingList(
    resource=SEGMENTS,
    path="/segments",
    title="Segments",
    lead="Filters of the overview that are saved under a name.",
    columns={
        "Segment": lambda segment: ThingCell(segment.name, _address(segment)),
        "Filters": lambda segment: ThingCell(_in_words(segment)),
    },
    deletion="What it counts stays.",
    empty="Filter the overview by a click on any row, and save the filters there.",
    template="analytics/segments.html",
)
add_list(_LIST)


@dashboard.post("/segments")
@needs(SEGMENTS.writes)
@once
async def segments_add() -> Response:
    """Save the filters of the overview, and show it."""
    try:
        name, filters = (SEGMENTS.told[told] for told in ("name", "filters"))
        values = {
            "filters": filters.parse(_FILTERS, _sent_filters()),
            "name": name.parse(_NAME, field(_NAME)),
        }
        made = await Things(SEGMENTS).add(resources().database, org_id(), values, resources().clock())
    except FieldError as error:
        return await _refused(error)
    return redirect(_address(made), 303)  # type: ignore[return-value]


async def _refused(error: FieldError) -> Response:
    """The page with what is wrong, and with the form as it was sent where that is its name."""
    is_filter = error.field.startswith(_FILTERS)
    return await _LIST.page(
        {_FILTERS if is_filter else _NAME: error.rule},
        sent={name: field(name) for name in (_NAME, _FILTERS)},
        wrong_filter=f"The filter {error.field.removeprefix(f'{_FILTERS}.')}",
    )


def _sent_filters() -> object:
    try:
        return json.loads(field(_FILTERS))
    except (ValueError, RecursionError):
        abort(400)


@dataclass(frozen=True, slots=True)
class SegmentChoice:
    """A segment that the overview offers."""

    name: str
    address: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SegmentBar:
    """The segments, and the filters that a new one would have: "" where none are set, or one has them."""

    choices: list[SegmentChoice]
    new: str


async def segment_bar(view: View, path: str) -> SegmentBar:
    """What the overview shows of segments beside this view."""
    chosen = {by.value: value for by, value in view.filters.items()}
    nothing: dict[str, str | None] = {by.value: None for by in FILTERS}
    choices = [
        SegmentChoice(
            segment.name,
            view.address(path, **nothing | {name: value or "" for name, value in segment.filters.items()}),
            segment.filters == chosen,
        )
        for segment in await Things(SEGMENTS).list(resources().database, org_id())
    ]
    is_new = chosen and not any(choice.is_chosen for choice in choices)
    return SegmentBar(choices, json.dumps(chosen) if is_new else "")

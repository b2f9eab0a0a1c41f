"""A page with all things of a resource, and the form that deletes one, for resources that need no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from quart import Response, url_for

from backend.dashboard.frame.blueprint import dashboard, may_open, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.domain.resources.resource import Resource, Verb
from backend.storage.resources.things import Things
from backend.web.current import resources

_NO_PROBLEMS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ThingCell:
    """A cell of the table, and where it leads, if anywhere."""

    text: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class ThingRow:
    """A row of the table: its cells with their headings, and the address of the form that deletes it."""

    name: str
    cells: Sequence[tuple[str, ThingCell]]
    deletion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThingList:
    """What the page says: at `path`, above the table, in its columns (the first one names the thing), before
    a deletion, and where there is nothing. A template of its own may have a form, too."""

    resource: Resource[Any]
    path: str
    title: str
    lead: str
    columns: Mapping[str, Callable[[Any], ThingCell]]
    deletion: str
    empty: str
    template: str = "frame/things.html"

    async def page(self, problems: Mapping[str, str] = _NO_PROBLEMS, **more: Any) -> Response:
        """The page, above whose table stands what is wrong with a form."""
        things = await Things(self.resource).list(resources().database, org_id())
        deletes = self.resource.pages[Verb.DELETE]
        return await page(
            self.template,
            422 if problems else 200,
            things=self,
            rows=[self._row(thing) for thing in things],
            may_delete=may_open(deletes),
            problems=problems,
            **more,
        )

    def _row(self, thing: Any) -> ThingRow:
        cells = [(heading, cell(thing)) for heading, cell in self.columns.items()]
        deletion = url_for(f"dashboard.{self.resource.pages[Verb.DELETE]}", thing_id=thing.id)
        return ThingRow(cells[0][1].text, cells, deletion)


def add_list(things: ThingList) -> None:
    """Add the page and its form to the dashboard's routes."""
    resource = things.resource

    @needs(resource.reads)
    async def show() -> Response:
        return await things.page()

    @needs(resource.writes)
    async def delete(thing_id: str) -> Response:
        await Things(resource).delete(resources().database, org_id(), thing_id)
        return redirect_with_notice(resource.pages[Verb.LIST], "thing-deleted")

    dashboard.add_url_rule(things.path, resource.pages[Verb.LIST], show, methods=["GET"])
    one = f"{things.path}/<thing_id>/delete"
    dashboard.add_url_rule(one, resource.pages[Verb.DELETE], delete, methods=["POST"])

"""/funnels/ID: how many did each step of a funnel, how long it took them, and where they stopped."""

from __future__ import annotations

from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.figures import Definition
from backend.dashboard.analytics.view import PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.funnels.grouping import UNGROUPED, fields_of, funnel_view
from backend.dashboard.funnels.links import link_names
from backend.dashboard.funnels.people import people_address
from backend.dashboard.funnels.shown import people_word, shown_funnel
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.funnel import Funnel, FunnelQuery
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.analytics.query import field_label
from backend.domain.errors import InvalidField
from backend.domain.ids import FunnelId
from backend.domain.reports.views import ViewKind
from backend.storage.analytics.query_questions import AskFunnel
from backend.storage.resources.things import Things
from backend.web.current import resources

_MEANING = (
    "Who did this step and all before it: each once, by the attempt that got furthest. Whoever did this step "
    "and not the next one stopped here. A number leads to these people. All the way is the share of the "
    "first step that did the last."
)


@dashboard.get("/funnels/<funnel_id>")
@needs(Permission.ANALYTICS_READ)
async def funnels_one(funnel_id: FunnelId) -> Response:
    """The funnel in the days of the address, by the field of the address."""
    saved = await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id)
    view, funnel = await funnel_view(saved)
    status = 422 if view.errors else 200
    share = {"kind": ViewKind.FUNNEL.value, "funnel": saved.id, "by": _by(funnel)}
    return await page(
        "funnels/funnel.html",
        status,
        later=partial(_content, saved, funnel, view),
        view=view,
        saved=saved,
        share_path=view.address(url_for("dashboard.reports_new"), **share),
    )


async def _content(saved: SavedFunnel, funnel: Funnel, view: View) -> dict[str, Any]:
    fields = [(field.value, field_label(field)) for field in fields_of(saved.funnel)]
    shown: dict[str, Any] = {
        "view": view,
        "path": url_for("dashboard.funnels_one", funnel_id=saved.id),
        "presets": PRESETS,
        "fields": [(UNGROUPED, "Nothing"), *fields],
        "by": _by(funnel),
    }
    query = FunnelQuery(funnel=funnel, period=view.period, now=resources().clock())
    try:
        answer = await resources().analytics.ask(org_id(), AskFunnel(query))
    except InvalidField as error:  # a property of events that is marked no more
        return shown | {"problem": f"{error}."}
    names = await link_names(org_id(), funnel.steps)
    address = partial(people_address, view, saved.id)
    definition = Definition("steps", f"{people_word(funnel).capitalize()}s of a step", _MEANING)
    return shown | {"shown": shown_funnel(answer, names, address), "definition": definition}


def _by(funnel: Funnel) -> str:
    """What the funnel is grouped by, as an address names it."""
    return funnel.group_by.value if funnel.group_by else UNGROUPED

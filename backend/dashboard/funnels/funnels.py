"""/funnels: the organization's funnels, and a form for a new one.

Who opens it: a marketer or product manager who sees many clicks and few sales. What they decide by it: which
step to work on, and which campaigns bring people who go on.
"""

from __future__ import annotations

from quart import Response, redirect, url_for

from backend.dashboard.analytics.tables import NAMES
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.funnels.form import (
    FILTER_FIELDS,
    FORM_LABELS,
    KINDS,
    NUMBERS,
    ORDERS,
    PEOPLE,
    FunnelForm,
)
from backend.domain.analytics.funnels.saved import SavedFunnel
from backend.domain.analytics.funnels.words import filters_words, step_words
from backend.domain.errors import FieldError
from backend.domain.ids import FunnelId
from backend.storage.funnels.saved_funnels import create_funnel, delete_funnel, list_funnels
from backend.web.current import resources


@dashboard.get("/funnels")
async def funnels() -> Response:
    """All funnels, and a form for a new one."""
    return await _page(FunnelForm.empty())


@dashboard.post("/funnels")
async def funnels_add() -> Response:
    """Make a funnel, and show it."""
    form = FunnelForm.sent()
    fields = form.parsed()
    if form.problems:
        return await _page(form)
    try:
        saved = await create_funnel(resources().database, org_id(), fields, resources().clock())
    except FieldError as error:
        form.say(error)
    if form.problems:
        return await _page(form)
    return _to(url_for("dashboard.funnels_one", funnel_id=saved.id, notice="funnel-made"))


@dashboard.post("/funnels/<funnel_id>/delete")
async def funnels_delete(funnel_id: FunnelId) -> Response:
    """Delete the funnel; what it counts stays."""
    await delete_funnel(resources().database, org_id(), funnel_id)
    return _to(url_for("dashboard.funnels", notice="funnel-deleted"))


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]


async def _page(form: FunnelForm) -> Response:
    stored = await list_funnels(resources().database, org_id())
    return await page(
        "funnels/funnels.html",
        422 if form.problems else 200,
        funnels=[(saved, _in_words(saved)) for saved in stored],
        form=form,
        problems=form.problems,
        labels=FORM_LABELS,
        kinds=KINDS,
        people=PEOPLE,
        orders=ORDERS,
        numbers=NUMBERS,
        filter_fields=[(field.value, NAMES.get(field, "Outcome")) for field in FILTER_FIELDS],
    )


def _in_words(saved: SavedFunnel) -> list[str]:
    """The steps of a funnel, each with its filters."""
    return [", ".join([step_words(step), *filters_words(step)]) for step in saved.funnel.steps]

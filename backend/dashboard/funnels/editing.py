"""/funnels/new and /funnels/ID/change: the form of a funnel.

Who opens it: a marketer who knows which steps visitors go, but not how each event is spelled. So the form
suggests what there is, and its steps can be put in order on a phone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.form import field
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.once import once
from backend.dashboard.frame.page import page
from backend.dashboard.frame.saw import of_stored
from backend.dashboard.funnels.form import FORM_LABELS, KINDS, ORDERS, PEOPLE, FunnelForm
from backend.dashboard.funnels.links import ids_of_short_urls, short_urls_of
from backend.dashboard.funnels.suggestions import suggestions
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.funnel import LEAST_STEPS, MOST_STEPS
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.analytics.query import Field
from backend.domain.errors import FieldError
from backend.domain.fields.rules import is_uuid
from backend.domain.ids import FunnelId
from backend.storage.resources.things import Things
from backend.web.current import resources


async def _stored(funnel_id: FunnelId) -> Mapping[str, str]:
    form = await _form_of(await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id))
    return form.texts if form else {}


async def _form_of(saved: SavedFunnel) -> FunnelForm | None:
    """The form with the funnel in it, its links by their short URLs; None if it does not fit in."""
    form = FunnelForm.of(saved)
    if form:
        of_links = [step for step in form.steps if step.field == Field.LINK]
        short_urls = await short_urls_of(step.value for step in of_links)
        for step in of_links:
            step.value = short_urls.get(step.value, step.value)
    return form


@dashboard.get("/funnels/new")
@needs(Permission.ANALYTICS_WRITE)
async def funnels_new() -> Response:
    """The form for a new one."""
    return await _page(FunnelForm.empty())


@dashboard.post("/funnels")
@needs(Permission.ANALYTICS_WRITE)
@once
async def funnels_add() -> Response:
    """Make a funnel, and show it; or give the form back with a step more or less, or in another place."""
    return await _store(None)


@dashboard.get("/funnels/<funnel_id>/change")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored)
async def funnels_edit(funnel_id: FunnelId) -> Response:
    """The form with the funnel's fields."""
    saved = await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id)
    form = await _form_of(saved)
    return await _page(form, saved)


@dashboard.post("/funnels/<funnel_id>/change")
@needs(Permission.ANALYTICS_WRITE)
@of_stored(_stored)
async def funnels_change(funnel_id: FunnelId) -> Response:
    """Change the funnel, or give the form back as `funnels_add` does."""
    return await _store(await Things(SAVED_FUNNELS).get(resources().database, org_id(), funnel_id))


async def _store(saved: SavedFunnel | None) -> Response:
    """What the form that was sent asks for: another form, or a changed funnel, a new one without `saved`."""
    database, form = resources().database, FunnelForm.sent()
    if action := field("act"):
        form.act(action)
        return await _page(form, saved)
    fields = await _parsed(form)
    if form.problems:
        return await _page(form, saved)
    try:
        if saved:
            await Things(SAVED_FUNNELS).change(database, org_id(), saved.id, fields)
            return redirect_with_notice("funnels_one", "funnel-changed", funnel_id=saved.id)
        made = await Things(SAVED_FUNNELS).add(database, org_id(), fields, resources().clock())
    except FieldError as error:
        form.say(error)
        return await _page(form, saved)
    return redirect_with_notice("funnels_one", "funnel-made", funnel_id=made.id)


async def _parsed(form: FunnelForm) -> dict[str, Any]:
    """The funnel's fields. What is wrong is noted in the form."""
    named = {number: step.value for number, step in enumerate(form.steps, 1) if step.field == Field.LINK}
    link_ids = await ids_of_short_urls(named.values())
    fields = form.parsed(link_ids)
    for number, text in named.items():
        if text and text not in link_ids and not is_uuid(text):
            form.problems[f"value_{number}"] = "must be the short URL of a link of yours"
    return fields


async def _page(form: FunnelForm | None, saved: SavedFunnel | None = None) -> Response:
    """The page with the form; without one, it says that the funnel does not fit into the form."""
    status = 422 if form and form.problems else 200
    later = partial(_content, form, saved)
    return await page("funnels/edit.html", status, later=later, saved=saved, labels=FORM_LABELS)


async def _content(form: FunnelForm | None, saved: SavedFunnel | None) -> dict[str, Any]:
    change = url_for("dashboard.funnels_change", funnel_id=saved.id) if saved else ""
    return {
        "form": form,
        "problems": form.problems if form else {},
        "known": await suggestions(),
        "action": change or url_for("dashboard.funnels_add"),
        "kinds": KINDS,
        "people": PEOPLE,
        "orders": ORDERS,
        "least_steps": LEAST_STEPS,
        "most_steps": MOST_STEPS,
    }

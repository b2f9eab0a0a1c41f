"""/funnels: the organization's funnels.

Who opens it: a marketer or product manager who sees many clicks and few sales. What they decide by it: which
step to work on, and which campaigns bring people who go on.
"""

from __future__ import annotations

from collections.abc import Mapping

from quart import Response

from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.frame.notices import redirect_with_notice
from backend.dashboard.frame.page import page
from backend.dashboard.funnels.links import link_names
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS, SavedFunnel
from backend.domain.analytics.funnels.words import filters_words, step_words
from backend.domain.ids import FunnelId
from backend.storage.resources.things import Things
from backend.web.current import resources


@dashboard.get("/funnels")
@needs(Permission.ANALYTICS_READ)
async def funnels() -> Response:
    """All funnels."""
    stored = await Things(SAVED_FUNNELS).list(resources().database, org_id())
    names = await link_names(org_id(), (step for saved in stored for step in saved.funnel.steps))
    return await page("funnels/funnels.html", funnels=[(saved, _in_words(saved, names)) for saved in stored])


@dashboard.post("/funnels/<funnel_id>/delete")
@needs(Permission.ANALYTICS_WRITE)
async def funnels_delete(funnel_id: FunnelId) -> Response:
    """Delete the funnel; what it counts stays."""
    await Things(SAVED_FUNNELS).delete(resources().database, org_id(), funnel_id)
    return redirect_with_notice("funnels", "funnel-deleted")


def _in_words(saved: SavedFunnel, names: Mapping[str, str]) -> list[str]:
    """The steps of a funnel, each with its filters."""
    return [", ".join([step_words(step), *filters_words(step, names)]) for step in saved.funnel.steps]

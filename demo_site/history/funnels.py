"""A funnel of the demo's organization: what somebody who runs such a shop would look at each week."""

from __future__ import annotations

from datetime import datetime

from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.fields.rules import parse_fields
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.resources.things import Things

_FUNNEL = {
    "name": "From a click to a sale",
    "steps": [{"kind": "click"}, {"kind": "event", "name": "added_to_cart"}, {"kind": "conversion"}],
    "group_by": ["campaign"],
}


async def make_funnels(database: Database, org_id: OrgId, now: datetime) -> None:
    """Make the funnel, once, when the links are made."""
    await Things(SAVED_FUNNELS).add(database, org_id, parse_fields(SAVED_FUNNELS.told, _FUNNEL, []), now)

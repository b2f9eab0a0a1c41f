"""Places in the feed while another process gives them as well."""

from __future__ import annotations

import uuid
from functools import partial

from backend.app import Service
from backend.domain.ids import OrgId
from backend.storage.links.tags import create_tag
from backend.storage.outbox import entries
from backend.storage.outbox.sequencer import place_waiting
from backend.system.clock import utc_now
from tests.between_commands import moments
from tests.fresh_database import fresh_database


async def test_another_sequencer_works_between_two_steps_of_one(service: Service) -> None:
    """Each entry has one place, and none is left out, also one that comes meanwhile."""
    async with fresh_database(service.resources.database) as database:

        async def note_and_place(org_id: OrgId) -> None:
            await create_tag(database, org_id, "late", None, utc_now())
            await place_waiting(database)

        async for moment in moments(database):
            org_id = OrgId(str(uuid.uuid4()))
            for name in ("first", "second"):
                await create_tag(database, org_id, name, None, utc_now())
            await moment.interrupt(place_waiting(moment.database), partial(note_and_place, org_id))
            await place_waiting(database)
            stored = database[entries.NAME].find({"org_id": org_id}).sort("place", 1)
            places = [entry.get("place") async for entry in stored]
            assert places == list(range(1, 3 + moment.came))

"""Installations that are recorded at once."""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

from backend.domain.apps.deferred_links import Handoff
from backend.domain.apps.installs import AppPlatform, Install, Match
from backend.domain.clicks.block import blocks_of
from backend.domain.ids import InstallId, LinkId
from backend.storage.apps.deferred_links import find_candidates
from backend.storage.apps.install_counts import count_install_window
from backend.storage.apps.installs import AlreadyClaimed, record_install
from backend.storage.clicks.blocks import ship_blocks
from backend.storage.clicks.logs import LogHead
from backend.storage.driver.mongo import Database
from tests.between_commands import moments
from tests.facts.clicks import click
from tests.facts.organizations import TestOrganization

NOW = datetime.now(UTC).replace(microsecond=0)


def install(organization: TestOrganization, link_id: LinkId, *candidate_ids: str) -> Install:
    """A new installation that the link led to."""
    install_id = InstallId(str(uuid.uuid4()))
    return Install(organization.id, install_id, AppPlatform.IOS, link_id, NOW, Match.ADDRESS, candidate_ids)


async def test_an_installation_is_recorded_between_two_steps_of_its_recording(
    organization: TestOrganization, database: Database
) -> None:
    """It counts once."""
    async for moment in moments(database):
        link_id = LinkId(str(uuid.uuid4()))
        reported = install(organization, link_id)
        results = await moment.interrupt(
            record_install(moment.database, reported), partial(record_install, database, reported)
        )
        assert results.count(True) == 1
        assert (await count_install_window(database, link_id, NOW)).total == 1


async def test_another_installation_claims_a_click_between_two_steps_of_one(
    organization: TestOrganization, database: Database
) -> None:
    """The click led to one of them."""
    async for moment in moments(database):
        link_id, address = LinkId(str(uuid.uuid4())), uuid.uuid4().hex
        handoff = Handoff("app", address, NOW + timedelta(days=1))
        clicked = click(organization.id, link_id, NOW, platform="ios", handoff=handoff)
        log_id = uuid.uuid4().hex
        await ship_blocks(database, log_id, LogHead(), 1, blocks_of([clicked]), handoffs=[clicked])
        (candidate,) = await find_candidates(
            database, [address], organization.id, app_id="app", platform=AppPlatform.IOS, now=NOW
        )
        first, second = (install(organization, link_id, *candidate.ids) for _ in range(2))
        with suppress(AlreadyClaimed):
            await moment.interrupt(
                record_install(moment.database, first), partial(record_install, database, second)
            )
        assert (await count_install_window(database, link_id, NOW)).total == 1

"""First launches of apps in a feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.ids import InstallId, OrgId
from backend.storage.apps import installs
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.named import find_named
from backend.storage.feed.runs import Run, Told


async def load_installs(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """What is known of these installations."""
    own_ids = (run.fact["install_id"] for run in runs if run.fact["install_id"])
    found = await find_named(database, session, installs.NAME, org_id, own_ids)
    return [[_told(run.fact["install_id"], found)] for run in runs]


def _told(install_id: InstallId | None, found: Mapping[str, Document]) -> Told | None:
    known = found.get(install_id) if install_id else None
    if known is None:
        return None
    data = {
        "install_id": install_id,
        "platform": known["platform"],
        "link_id": known["link_id"],
        "match": known["match"],
    }
    return Told(known["at"], data)

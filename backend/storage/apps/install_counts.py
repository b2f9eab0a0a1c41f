"""The `install_counts` collection: the number of installs each link led to, by day, hour and minute."""

from __future__ import annotations

from datetime import datetime

from backend.domain.ids import LinkId, OrgId
from backend.domain.links.window_counts import WindowCounts
from backend.storage.apps import counters
from backend.storage.driver.mongo import ClientSession, Database
from backend.storage.schema.audited import NotAudited
from backend.storage.schema.collection import BY_ID, Collection, NoRetention, NotPersonal, Stage
from backend.storage.schema.ownership import ByLink

NAME = "install_counts"
COLLECTION = Collection(
    name=NAME,
    indexes=counters.INDEXES,
    owned_by=ByLink(),
    personal=NotPersonal("numbers"),
    retention=NoRetention("numbers stay true when what they counted is forgotten"),
    archived=Stage.HISTORY,
    shard_key=BY_ID,
    audited=NotAudited("it is no change by anybody, but what happened"),
)


async def add_install(
    database: Database, session: ClientSession, org_id: OrgId, link_id: LinkId, at: datetime
) -> None:
    """Count one install of a link in the caller's transaction."""
    await counters.add_moments(database, NAME, session, [(org_id, link_id, at)])


async def count_install_window(database: Database, link_id: LinkId, now: datetime) -> WindowCounts:
    """A link's installs in total and in the 30 and 7 days before `now` (contract, "Install analytics")."""
    return await counters.read_windows(database, NAME, link_id, now)

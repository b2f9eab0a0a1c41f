"""The `clicks` collection: a document for each click, as versions before `click_blocks` stored them.

Nothing is added to it, but by the restore of an archive of such a version. The service moves what is in it
(storage/former_clicks).
"""

from __future__ import annotations

from pymongo import IndexModel

from backend.storage.collection import Collection, NoRetention, NotPersonal, Stage
from backend.storage.ownership import ByLink

NAME = "clicks"
# Seconds. Visits that did not count explain low figures; reports look back thirty days.
UNCOUNTED_KEPT = 90 * 24 * 60 * 60
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("link_id", 1), ("counted", 1), ("at", 1)]),
        IndexModel("at", expireAfterSeconds=UNCOUNTED_KEPT, partialFilterExpression={"counted": False}),
    ],
    owned_by=ByLink("link_id"),
    personal=NotPersonal("a click names neither an address nor a device nor a customer"),
    retention=NoRetention("it names nobody"),
    archived=Stage.HISTORY,
    shard_key={"link_id": 1, "_id": 1},
)

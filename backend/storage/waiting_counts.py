"""Counts of a link that are not in its documents yet, as documents that hold nothing else."""

from __future__ import annotations

from array import array

from backend.domain.analytics import TOTAL
from backend.domain.ids import LinkId
from backend.domain.rollup import QUARTER_SECONDS, Tally
from backend.storage.mongo import Document
from backend.storage.rollups import HOUR_SECONDS, SECOND, bucket_of_day, by_width, day_name, id_of
from backend.storage.visitor_sketches import add_visitors


def documents_of(subject: LinkId, owner: Document, tally: Tally, *, breakdown_only: bool) -> list[Document]:
    """These counts of one link as documents that hold nothing else, to be added to what is stored.

    The document of a day has the second of each of its clicks, however many there are.
    """
    documents: list[Document] = []
    for day, each in tally.items():
        document = {"_id": id_of(subject, bucket_of_day(day)), **owner, "day": day_name(day), **each.values}
        if each.visitors:
            document["visitors"] = add_visitors(None, each.visitors)
        if each.seconds:
            document["quarters"] = by_width(each.seconds, QUARTER_SECONDS)
        if each.seconds and not breakdown_only:
            document["parts"] = by_width(each.seconds, HOUR_SECONDS)
            document["seconds"] = array(SECOND.typecode, each.seconds).tobytes()
        documents.append(document)
    clicks = sum(len(each.seconds) for each in tally.values())
    if clicks and not breakdown_only:
        documents.append({"_id": id_of(subject, TOTAL), **owner, "parts": {"all": clicks}})
    return documents

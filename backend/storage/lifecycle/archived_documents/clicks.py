"""Rules for the clicks of an archive: their blocks, and the summaries of days that were added up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from backend.domain.accounts.organizations import MOST_DAYS
from backend.domain.clicks import summary as click_summary
from backend.domain.clicks.block import MOST_CLICKS, UnreadableBlock, moment, unpack
from backend.domain.clicks.summary import UnreadableSummary
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag
from backend.storage.clicks import blocks as click_blocks
from backend.storage.clicks import summaries as click_summaries
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_link,
)
from backend.storage.schema.document_fields import (
    DocumentFields,
    binary,
    integer,
    list_of,
    nested,
    text,
    time,
)

_LONGEST_KEPT = timedelta(days=MOST_DAYS)
_PART = DocumentFields({"id": text, "clicks": integer})
_BLOCK = DocumentFields(
    {"clicks": integer, "first_at": time, "last_at": time, "packed": binary},
    {
        "parts": list_of(nested(_PART), MOST_CLICKS),
        "is_small": Flag().parse,
        "is_unreadable": Flag().parse,
        "expires_at": time,
    },
)
_SUMMARY = DocumentFields(
    {"day": integer, "clicks": integer, "packed": binary}, {"is_unreadable": Flag().parse}
)


def _block(document: Document, context: ArchiveContext) -> None:
    """Raise an error unless the block's clicks are of links of the archive, and as the document says."""
    _BLOCK.check(document)
    expires_within(_LONGEST_KEPT, document, context)
    if document.get("is_unreadable"):
        return
    try:
        columns = unpack(document["packed"])
    except UnreadableBlock as error:
        raise InvalidField("packed", f"is no block of clicks: {error}") from None
    for link_id in columns.links:
        own_link(link_id, context)
    stated = (document["clicks"], document["first_at"], document["last_at"])
    if stated != (len(columns.at), moment(min(columns.at)), moment(max(columns.at))):
        raise InvalidField("packed", "does not hold as many clicks, or not of that time")
    sizes = [part.clicks for part in click_blocks.parts_of(document)]
    if sum(sizes) != len(columns.at) or min(sizes) < 1:
        raise InvalidField("parts", "must be the blocks that it was merged from, with their clicks")


def _summary(document: Document, context: ArchiveContext) -> None:
    """Raise an error unless the clicks are of links of the archive, and as many as the document says."""
    _SUMMARY.check(document)
    if document.get("is_unreadable"):
        return
    try:
        columns = click_summary.unpack(document["packed"])
    except UnreadableSummary as error:
        raise InvalidField("packed", f"is no summary of clicks: {error}") from None
    for link_id in columns.links:
        own_link(link_id, context)
    if (document["day"], document["clicks"]) != (columns.day, columns.clicks):
        raise InvalidField("packed", "does not hold as many clicks, or not of that day")


RULES: Mapping[str, DocumentRule] = {
    click_blocks.NAME: _block,
    click_summaries.NAME: _summary,
}

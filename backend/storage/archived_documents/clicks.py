"""Clicks of an archive: single ones, the blocks and folds that have them, and days that were added up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from backend.domain import click_summary
from backend.domain.click_block import DAY_MS, MOST_CLICKS, Columns, UnreadableBlock, moment, unpack
from backend.domain.click_summary import UnreadableSummary
from backend.domain.errors import InvalidField
from backend.domain.field_rules import Flag
from backend.domain.organizations import MOST_DAYS
from backend.domain.rollup import part_of
from backend.storage import click_blocks, click_folds, click_summaries, clicks, link_deltas
from backend.storage.archived_documents.holdings import DocumentRule, Holdings, expires_within, own_link
from backend.storage.document_fields import DocumentFields, binary, integer, list_of, nested, text, time
from backend.storage.mongo import Document

_LONGEST_KEPT = timedelta(days=MOST_DAYS)
_CLICK = DocumentFields({"link_id": text, "at": time, "counted": Flag().parse}, is_open=True)
_PART = DocumentFields({"id": text, "clicks": integer})
_BLOCK = DocumentFields(
    {"clicks": integer, "first_at": time, "last_at": time, "packed": binary, "folded": Flag().parse},
    {
        "parts": list_of(nested(_PART), MOST_CLICKS),
        "is_small": Flag().parse,
        "is_unreadable": Flag().parse,
        "in_fold": Flag().parse,
        "counted_before": Flag().parse,
        "expires_at": time,  # of former versions
    },
)
_SUMMARY = DocumentFields({"day": integer, "clicks": integer, "packed": binary}, {"is_unreadable": Flag().parse})
_DELTA = DocumentFields(
    {"part": integer, "day": integer, "clicks": integer, "packed": binary},
    {"counted_before": Flag().parse, "is_unreadable": Flag().parse},
)
_FOLD = DocumentFields(
    {"folds": integer},
    {
        "fold": text,
        "blocks": list_of(text, click_folds.MOST_BLOCKS),
        "counted_before": Flag().parse,
        "to_link": text,
    },
)


def _click(document: Document, holdings: Holdings) -> None:
    _CLICK.check(document)
    own_link(document["link_id"], holdings)


def _own_clicks(document: Document, holdings: Holdings) -> Columns:
    """The clicks of a block or of a delta, which must be on links of the archive."""
    try:
        columns = unpack(document["packed"])
    except UnreadableBlock as error:
        raise InvalidField("packed", f"is no block of clicks: {error}") from None
    for link_id in columns.links:
        own_link(link_id, holdings)
    return columns


def _block(document: Document, holdings: Holdings) -> None:
    """Raise an error unless the block's clicks are of links of the archive, and as the document says."""
    _BLOCK.check(document)
    expires_within(_LONGEST_KEPT, document, holdings)
    if document.get("is_unreadable"):
        if not document["folded"]:
            raise InvalidField("is_unreadable", "is true only of blocks that are not counted again")
        return
    columns = _own_clicks(document, holdings)
    said = (document["clicks"], document["first_at"], document["last_at"])
    if said != (len(columns.at), moment(min(columns.at)), moment(max(columns.at))):
        raise InvalidField("packed", "does not hold as many clicks, or not of that time")
    sizes = [part.clicks for part in click_blocks.parts_of(document)]
    if sum(sizes) != len(columns.at) or min(sizes) < 1:
        raise InvalidField("parts", "must be the blocks that it was merged from, with their clicks")


def _delta(document: Document, holdings: Holdings) -> None:
    """Raise an error unless the clicks are of links of the archive and of one part, as the document says."""
    _DELTA.check(document)
    if document.get("is_unreadable"):
        return
    columns = _own_clicks(document, holdings)
    said = (document["clicks"], document["day"], {document["part"]})
    if said != (len(columns.at), columns.at[0] // DAY_MS, set(map(part_of, columns.links))):
        raise InvalidField("packed", "does not hold as many clicks, or not of that day and part")


def _fold(document: Document, holdings: Holdings) -> None:
    _FOLD.check(document)
    if any(not block_id.startswith(f"{holdings.org_id}/") for block_id in document.get("blocks", [])):
        raise InvalidField("blocks", "must be blocks of the archive")
    is_whole = {"fold", "blocks", "counted_before", "to_link"} <= document.keys()
    if "fold" in document and not is_whole:
        raise InvalidField("fold", "is not whole")


def _summary(document: Document, holdings: Holdings) -> None:
    """Raise an error unless the clicks are of links of the archive, and as many as the document says."""
    _SUMMARY.check(document)
    if document.get("is_unreadable"):
        return
    try:
        columns = click_summary.unpack(document["packed"])
    except UnreadableSummary as error:
        raise InvalidField("packed", f"is no summary of clicks: {error}") from None
    for link_id in columns.links:
        own_link(link_id, holdings)
    if (document["day"], document["clicks"]) != (columns.day, columns.clicks):
        raise InvalidField("packed", "does not hold as many clicks, or not of that day")


RULES: Mapping[str, DocumentRule] = {
    clicks.NAME: _click,
    click_blocks.NAME: _block,
    click_summaries.NAME: _summary,
    click_folds.NAME: _fold,
    link_deltas.NAME: _delta,
}

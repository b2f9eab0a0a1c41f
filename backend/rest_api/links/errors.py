"""The rows of the error table for operations on links that are rejected."""

from __future__ import annotations

from backend.domain.links.operations import DomainNotConfigured, ExternalIdTaken, LinkGone, PathTaken
from backend.json_api import error_table
from backend.json_api.refusal import Refusal, refusal_for

_ROWS = {
    DomainNotConfigured: error_table.DOMAIN_NOT_CONFIGURED,
    PathTaken: error_table.PATH_TAKEN,
    ExternalIdTaken: error_table.EXTERNAL_ID_TAKEN,
    LinkGone: error_table.LINK_NOT_FOUND,
}


def refusal_of(error: Exception) -> Refusal:
    """The refusal for why an operation was rejected. Raises the error itself if it is none of these."""
    if row := _ROWS.get(type(error)):
        return Refusal(row)
    if refusal := refusal_for(error):
        return refusal
    raise error

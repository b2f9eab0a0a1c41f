"""The rows of the error table for operations on links that are rejected."""

from __future__ import annotations

from backend.domain.accounts.reach.link_reach import NoNewLinks
from backend.domain.links.operations import DomainNotConfigured, ExternalIdTaken, LinkGone, PathTaken
from backend.json_api import error_table
from backend.json_api.api_error import ApiError, api_error_for

_ROWS = {
    DomainNotConfigured: error_table.DOMAIN_NOT_CONFIGURED,
    PathTaken: error_table.PATH_TAKEN,
    ExternalIdTaken: error_table.EXTERNAL_ID_TAKEN,
    LinkGone: error_table.LINK_NOT_FOUND,
    NoNewLinks: error_table.KEY_LIMITED,
}


def api_error_of(error: Exception) -> ApiError:
    """The API's error for what an operation raised. Raises `error` itself if the error table has no row."""
    if row := _ROWS.get(type(error)):
        return ApiError(row)
    if api_error := api_error_for(error):
        return api_error
    raise error

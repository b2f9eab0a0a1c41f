"""The REST API for servers (contract, "Endpoints")."""

from backend.rest_api import (
    analytics,
    bulk_links,
    change_link,
    create_link,
    explain_conversion,
    export_clicks,
    fill_preview,
    find_links,
    list_links,
    query_analytics,
    tags,
    take_back_identity,
    tell_calls,
    tell_refunds,
    utm_templates,
    write_links,
)
from backend.rest_api.blueprint import rest
from backend.rest_api.documentation import documentation

__all__ = [
    "analytics",
    "bulk_links",
    "change_link",
    "create_link",
    "documentation",
    "explain_conversion",
    "export_clicks",
    "fill_preview",
    "find_links",
    "list_links",
    "query_analytics",
    "rest",
    "tags",
    "take_back_identity",
    "tell_calls",
    "tell_refunds",
    "utm_templates",
    "write_links",
]

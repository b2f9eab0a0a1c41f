"""The REST API for servers (contract, "Endpoints")."""

from backend.rest_api import (
    analytics,
    bulk_links,
    change_link,
    destination_rules,
    explain_conversion,
    export_clicks,
    fill_preview,
    find_links,
    list_links,
    query_analytics,
    read_events,
    tags,
    take_back_identity,
    tell_calls,
    tell_refunds,
    utm_templates,
    webhooks,
    write_links,
)
from backend.rest_api.blueprint import rest
from backend.rest_api.creation_route import CREATION_PATHS, CreationRoute
from backend.rest_api.documentation import documentation

__all__ = [
    "CREATION_PATHS",
    "CreationRoute",
    "analytics",
    "bulk_links",
    "change_link",
    "destination_rules",
    "documentation",
    "explain_conversion",
    "export_clicks",
    "fill_preview",
    "find_links",
    "list_links",
    "query_analytics",
    "read_events",
    "rest",
    "tags",
    "take_back_identity",
    "tell_calls",
    "tell_refunds",
    "utm_templates",
    "webhooks",
    "write_links",
]

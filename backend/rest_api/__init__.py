"""The REST API for servers (contract, "Endpoints")."""

from backend.rest_api.analytics import counts as analytics
from backend.rest_api.analytics import query as query_analytics
from backend.rest_api.clicks import export as export_clicks
from backend.rest_api.destinations import rules as destination_rules
from backend.rest_api.feed import events as read_events
from backend.rest_api.links import bulk as bulk_links
from backend.rest_api.links import change as change_link
from backend.rest_api.links import find as find_links
from backend.rest_api.links import listing as list_links
from backend.rest_api.links import preview as fill_preview
from backend.rest_api.links import write as write_links
from backend.rest_api.links.creation_route import CREATION_PATHS, CreationRoute
from backend.rest_api.openapi.documentation import documentation
from backend.rest_api.routes.blueprint import rest
from backend.rest_api.sales import explain as explain_conversion
from backend.rest_api.sales import tell_calls, tell_refunds
from backend.rest_api.tags import tags, utm_templates
from backend.rest_api.visitors import take_back_identity
from backend.rest_api.webhooks import webhooks

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

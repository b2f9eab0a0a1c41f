"""The operations of the REST API as data, built from the rules that check requests.

The OpenAPI document and its page are made from this list.
"""

from __future__ import annotations

from backend.rest_api.analytics import operations as operations_on_analytics
from backend.rest_api.clicks import operations as operations_on_clicks
from backend.rest_api.destinations import operations as operations_on_destinations
from backend.rest_api.feed import operations as operations_on_events
from backend.rest_api.links import operations as operations_on_links
from backend.rest_api.sales import operations as operations_on_sales
from backend.rest_api.tags import operations as operations_on_named_items
from backend.rest_api.visitors import operations as operations_on_identities
from backend.rest_api.webhooks import operations as operations_on_webhooks

OPERATIONS = (
    *operations_on_links.OPERATIONS,
    *operations_on_named_items.OPERATIONS,
    *operations_on_destinations.OPERATIONS,
    *operations_on_clicks.OPERATIONS,
    *operations_on_sales.OPERATIONS,
    *operations_on_analytics.OPERATIONS,
    *operations_on_identities.OPERATIONS,
    *operations_on_events.OPERATIONS,
    *operations_on_webhooks.OPERATIONS,
)

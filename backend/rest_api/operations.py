"""The operations of the REST API as data, built from the rules that check requests.

The OpenAPI document and its page are made from this list.
"""

from __future__ import annotations

from backend.rest_api import (
    operations_on_analytics,
    operations_on_clicks,
    operations_on_destinations,
    operations_on_events,
    operations_on_identities,
    operations_on_links,
    operations_on_named_items,
    operations_on_sales,
    operations_on_webhooks,
)

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

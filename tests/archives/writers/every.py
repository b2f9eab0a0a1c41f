"""Each archived collection's own writer, driven to its maximum: what the rules of its fields let in."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.all_resources import RESOURCES
from tests.archives.writers import accounts, figures, links, visitors
from tests.archives.writers.place import Writer

# The writer of each collection. Where one only follows from others, it is one of theirs.
WRITERS: Mapping[str, Writer] = {
    "counted_once": visitors.write_visits,
    "calls": visitors.write_visits,
    "idempotency": links.write_idempotency,
    "devices": visitors.write_visits,
    "contacts": visitors.write_visits,
    "events": visitors.write_visits,
    "leads": visitors.write_visits,
    "conversions": visitors.write_visits,
    "installs": visitors.write_installs,
    "click_blocks": links.write_clicks,
    "click_summaries": links.write_click_summaries,
    "feed_heads": visitors.write_erasure,
    "feed_entries": visitors.write_erasure,
    "ledger_statements": links.write_statements,
    "install_counts": visitors.write_installs,
    "taken_clicks": links.write_taken_clicks,
    "refusals": visitors.write_refusals,
    "purged_links": links.write_purged_links,
    "alerts": figures.write_alerts,
    "tags": links.write_tags,
    "utm_templates": links.write_utm_templates,
    "qr_logos": links.write_qr_logos,
    "links": links.write_links,
    "apps": accounts.write_apps,
    "origins": accounts.write_origins,
    "domains": accounts.write_domains,
    "webhooks": accounts.write_webhooks,
    "reports": figures.write_reports,
    "report_recipients": figures.write_recipients,
    **{resource.collection: figures.writer_of(resource) for resource in RESOURCES},
    "funnels": figures.write_funnels,
    "alert_rules": figures.write_alert_rules,
    "costs": figures.write_costs,
    "api_keys": accounts.write_api_keys,
    "single_sign_on": accounts.write_single_sign_on,
    "users": accounts.write_users,
    "organizations": accounts.write_organizations,
    "link_reports": links.write_link_reports,
    "broken_destinations": links.write_broken_destinations,
}

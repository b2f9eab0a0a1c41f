"""The dashboard: web pages at the root of the API host, for the people of an organization.

Importing the file of a page adds its routes to the blueprint.
"""

from backend.dashboard.accounts import (
    apps,
    deletion,
    keys,
    members,
    organization,
    provisioning,
    settings,
    subscription,
    switch_organization,
)
from backend.dashboard.accounts.single_sign_on import enter, group_roles
from backend.dashboard.accounts.single_sign_on import provider as identity_provider
from backend.dashboard.accounts.single_sign_on import settings as single_sign_on
from backend.dashboard.accounts.single_sign_on import sign_in as provider_sign_in
from backend.dashboard.accounts.users import join, new_password, passkeys, second_factor, sign_in
from backend.dashboard.alerts import alerts
from backend.dashboard.alerts import rules as alert_rules
from backend.dashboard.alerts import stop as stop_alert_mails
from backend.dashboard.analytics import attribution, events, overview, sale, single_clicks, single_sales
from backend.dashboard.annotations import notes
from backend.dashboard.archives import archives
from backend.dashboard.audit import log as audit_log
from backend.dashboard.cohorts import cohorts, sold
from backend.dashboard.costs import costs
from backend.dashboard.destinations import broken, rules
from backend.dashboard.destinations import reports as link_reports
from backend.dashboard.domains import listing as domains
from backend.dashboard.domains import look as domain_look
from backend.dashboard.domains import orphans as domain_orphans
from backend.dashboard.domains import removal as domain_removal
from backend.dashboard.domains import setup as domain_setup
from backend.dashboard.frame import assets, refused_form
from backend.dashboard.frame.blueprint import dashboard
from backend.dashboard.frame.error_pages import answer_browsers
from backend.dashboard.funnels import editing as edit_funnel
from backend.dashboard.funnels import funnel, funnels
from backend.dashboard.funnels import people as funnel_people
from backend.dashboard.funnels import people_file as funnel_people_file
from backend.dashboard.links import bulk, invitations, link, links_file, listing, sales
from backend.dashboard.links import taps as link_taps
from backend.dashboard.links.editing import change as change_link
from backend.dashboard.links.editing import make as make_link
from backend.dashboard.links.editing import preview as fill_preview
from backend.dashboard.links.editing import rules as link_rules
from backend.dashboard.links.qr_codes import codes as qr_codes
from backend.dashboard.links.qr_codes import sheets as qr_sheets
from backend.dashboard.links.sheets import sheets
from backend.dashboard.live import live
from backend.dashboard.mails import change as change_reader
from backend.dashboard.mails import mails, readers
from backend.dashboard.mails import new as new_reader
from backend.dashboard.reports import pages as report_pages
from backend.dashboard.search import customer, customer_data, search
from backend.dashboard.services import attach_dashboard_services
from backend.dashboard.shared import page as shared_page
from backend.dashboard.shared.blueprint import shared
from backend.dashboard.site import install, origins
from backend.dashboard.tags import tags, templates
from backend.dashboard.webhooks import webhook, webhooks

__all__ = [
    "alert_rules",
    "alerts",
    "answer_browsers",
    "apps",
    "archives",
    "assets",
    "attach_dashboard_services",
    "attribution",
    "audit_log",
    "broken",
    "bulk",
    "change_link",
    "change_reader",
    "cohorts",
    "costs",
    "customer",
    "customer_data",
    "dashboard",
    "deletion",
    "domain_look",
    "domain_orphans",
    "domain_removal",
    "domain_setup",
    "domains",
    "edit_funnel",
    "enter",
    "events",
    "fill_preview",
    "funnel",
    "funnel_people",
    "funnel_people_file",
    "funnels",
    "group_roles",
    "identity_provider",
    "install",
    "invitations",
    "join",
    "keys",
    "link",
    "link_reports",
    "link_rules",
    "link_taps",
    "links_file",
    "listing",
    "live",
    "mails",
    "make_link",
    "members",
    "new_password",
    "new_reader",
    "notes",
    "organization",
    "origins",
    "overview",
    "passkeys",
    "provider_sign_in",
    "provisioning",
    "qr_codes",
    "qr_sheets",
    "readers",
    "refused_form",
    "report_pages",
    "reports",
    "rules",
    "sale",
    "sales",
    "search",
    "second_factor",
    "settings",
    "shared",
    "shared_page",
    "sheets",
    "sign_in",
    "single_clicks",
    "single_sales",
    "single_sign_on",
    "sold",
    "stop_alert_mails",
    "subscription",
    "switch_organization",
    "tags",
    "templates",
    "webhook",
    "webhooks",
]

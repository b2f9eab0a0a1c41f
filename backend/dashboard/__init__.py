"""The dashboard: pages at the root of the API host for the people who own an organization."""

from backend.dashboard import (
    apps,
    assets,
    attribution,
    change_link,
    domains,
    home,
    install,
    keys,
    link,
    links,
    make_link,
    origins,
    settings,
    sign_in,
    subscription,
    switch_organization,
)
from backend.dashboard.blueprint import dashboard
from backend.dashboard.error_pages import answer_browsers
from backend.dashboard.service import attach_dashboard_service

__all__ = [
    "answer_browsers",
    "apps",
    "assets",
    "attach_dashboard_service",
    "attribution",
    "change_link",
    "dashboard",
    "domains",
    "home",
    "install",
    "keys",
    "link",
    "links",
    "make_link",
    "origins",
    "settings",
    "sign_in",
    "subscription",
    "switch_organization",
]

"""Gives the app what the dashboard's pages need beyond the app's common resources."""

from __future__ import annotations

from quart import Quart

from backend.dashboard.accounts.domain_states import DomainStates
from backend.dashboard.frame.service import DashboardService
from backend.web.current import Resources, attach


def attach_dashboard_services(app: Quart, resources: Resources) -> None:
    """Attach the dashboard's services to the app. The app stops the examinations of domains at its end."""
    domain_states = DomainStates(resources)
    attach(app, DashboardService(resources), domain_states)
    app.after_serving(domain_states.stop)

"""Gives the app what the dashboard's pages need beyond the app's common resources."""

from __future__ import annotations

from quart import Quart

from backend.dashboard.frame.service import DashboardService
from backend.dashboard.shared.service import SharedReportsService
from backend.doctor.domains.domain_states import DomainStates
from backend.web.current import Resources, attach


def attach_dashboard_services(app: Quart, resources: Resources) -> None:
    """Attach the dashboard's services to the app, which stops at its end what they do in the background."""
    domain_states = DomainStates(resources)
    shared_reports = SharedReportsService(resources)
    attach(app, DashboardService(resources), domain_states, shared_reports)
    app.after_serving(domain_states.stop)
    app.after_serving(shared_reports.answers.stop)

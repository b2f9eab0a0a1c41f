"""Gives the app what the dashboard's pages need beyond the app's common resources."""

from __future__ import annotations

from quart import Quart

from backend.dashboard.frame.service import DashboardService
from backend.dashboard.shared.service import SharedReportsService
from backend.doctor.domains.domain_states import DomainStates
from backend.identity_providers.identity_providers import IdentityProviders
from backend.web.current import Resources, attach


def attach_dashboard_services(app: Quart, resources: Resources) -> None:
    """Attach the dashboard's services to the app, which stops at its end what they do in the background."""
    domain_states = DomainStates(resources)
    shared_reports = SharedReportsService(resources)
    settings = resources.settings
    providers = IdentityProviders(
        allows_private=settings.private_destinations, allows_loopback=settings.allows_loopback_receivers
    )
    attach(app, DashboardService(resources), domain_states, shared_reports, providers)
    app.after_serving(providers.close)
    app.after_serving(domain_states.stop)
    app.after_serving(shared_reports.answers.stop)

"""What the dashboard works with beyond the app's resources."""

from __future__ import annotations

from quart import Quart, current_app

from backend.current import Resources
from backend.dashboard.domains.domain_states import DomainStates
from backend.passwords import is_password
from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit

_KEY = "waylink.dashboard"
# Sign-ins a minute, for an account and for an address: slow for who guesses, never felt by who mistypes.
SIGN_INS_OF_ACCOUNT = 10
SIGN_INS_OF_ADDRESS = 30


class DashboardService:
    """Limits of sign-ins, what is known of domains, whether browsers come by https."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database
        self.account_limit = ExactLimit(database, Limit("sign-in-account", SIGN_INS_OF_ACCOUNT))
        self.address_limit = ExactLimit(database, Limit("sign-in-address", SIGN_INS_OF_ADDRESS))
        self.domain_states = DomainStates(resources)
        self.is_https = resources.settings.base_url.startswith("https://")


def attach_dashboard_service(app: Quart, resources: Resources) -> None:
    """Give the app its dashboard service."""
    service = app.extensions[_KEY] = DashboardService(resources)
    app.after_serving(service.domain_states.stop)

    @app.before_serving
    async def compare_once() -> None:
        # The first comparison prepares what later ones use, and none must stand out by its time.
        await is_password("", None)


def dashboard_service() -> DashboardService:
    """The dashboard service of the app that handles this request."""
    found: DashboardService = current_app.extensions[_KEY]
    return found

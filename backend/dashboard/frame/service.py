"""The dashboard's own resources, beside those of the app."""

from __future__ import annotations

from backend.rate_limits.exact_limit import ExactLimit
from backend.rate_limits.limit import Limit
from backend.rate_limits.sign_in_limits import SignInLimits
from backend.web.current import Resources

# Tries of the current password, for each user who sets a new one.
_PASSWORD_CHANGES = Limit("password-change", 10)
# Mails with a link for a new password that one network may ask for.
_PASSWORD_RESETS = Limit("password-reset", 10, 600)
# Requests of sign-ins by a provider from one network: an office begins its day, but no flood passes through.
_SINGLE_SIGN_ONS = Limit("single-sign-on", 1_000, 600)
# Labels of sheets that an organization draws, some milliseconds of a processor each.
_LABELS = Limit("qr-labels", 5_000, 600)


class DashboardService:
    """Limits of sign-ins and of sheets of labels, and whether https is used."""

    def __init__(self, resources: Resources) -> None:
        database = resources.database
        self.sign_in_limits = SignInLimits(database, resources.clock)
        self.password_changes = ExactLimit(database, _PASSWORD_CHANGES)
        self.password_resets = ExactLimit(database, _PASSWORD_RESETS)
        self.single_sign_ons = ExactLimit(database, _SINGLE_SIGN_ONS)
        self.labels = ExactLimit(database, _LABELS)
        self.is_https = resources.settings.base_url.startswith("https://")

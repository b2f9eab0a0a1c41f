"""The resources of shared reports, beside those of the app."""

from __future__ import annotations

from backend.concurrency.turns import Turns
from backend.dashboard.shared.answers import ReportAnswers
from backend.web.current import Resources

# A hash takes at most a tenth of a second.
_MOST_PASSWORDS_WAITING = 20


class SharedReportsService:
    """Answers of reports, and turns for checking passwords: none of those who sign in waits for these."""

    def __init__(self, resources: Resources) -> None:
        self.answers = ReportAnswers(resources)
        self.hashing = Turns(_MOST_PASSWORDS_WAITING)
        self.is_https = resources.settings.base_url.startswith("https://")

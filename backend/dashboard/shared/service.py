"""The resources of shared reports, beside those of the app."""

from __future__ import annotations

from backend.dashboard.shared.answers import ReportAnswers
from backend.web.current import Resources


class SharedReportsService:
    """Answers of reports, and whether https is used."""

    def __init__(self, resources: Resources) -> None:
        self.answers = ReportAnswers(resources)
        self.is_https = resources.settings.base_url.startswith("https://")

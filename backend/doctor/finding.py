"""What an examination finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is; an error keeps something from working."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Area(StrEnum):
    """The part of an installation that a finding is about."""

    CONFIGURATION = "configuration"
    STORAGE = "storage"
    DOMAINS = "domains"
    PROXIES = "proxies"
    KEYS = "keys"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: what was examined (`subject`), what is so, and what to do where something is to be done."""

    severity: Severity
    area: Area
    subject: str
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Makes findings of one area."""

    area: Area

    def ok(self, subject: str, message: str) -> Finding:
        """All is well."""
        return Finding(Severity.OK, self.area, subject, message)

    def info(self, subject: str, message: str, advice: str = "") -> Finding:
        """Worth knowing."""
        return Finding(Severity.INFO, self.area, subject, message, advice)

    def warning(self, subject: str, message: str, advice: str) -> Finding:
        """Works, and may stop working or do less than it should."""
        return Finding(Severity.WARNING, self.area, subject, message, advice)

    def error(self, subject: str, message: str, advice: str) -> Finding:
        """Does not work."""
        return Finding(Severity.ERROR, self.area, subject, message, advice)

"""The results of an examination."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How serious a finding is. With an error, something does not work."""

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
    WEBHOOKS = "webhooks"
    LEDGER = "ledger"
    MAIL = "mail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: what was examined (`subject`), the result, and what to do about it ("" if nothing)."""

    severity: Severity
    area: Area
    subject: str
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Creates findings of one area."""

    area: Area

    def ok(self, subject: str, message: str) -> Finding:
        """A finding that all is well."""
        return Finding(Severity.OK, self.area, subject, message)

    def info(self, subject: str, message: str, advice: str = "") -> Finding:
        """A finding that is worth knowing but no problem."""
        return Finding(Severity.INFO, self.area, subject, message, advice)

    def warning(self, subject: str, message: str, advice: str) -> Finding:
        """A finding on something that works, but may stop working or does less than it should."""
        return Finding(Severity.WARNING, self.area, subject, message, advice)

    def error(self, subject: str, message: str, advice: str) -> Finding:
        """A finding on something that does not work."""
        return Finding(Severity.ERROR, self.area, subject, message, advice)

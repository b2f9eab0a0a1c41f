"""What an examination of an installation found."""

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
    BACKGROUND = "background"
    DOMAINS = "domains"
    PROXIES = "proxies"
    KEYS = "keys"
    WEBHOOKS = "webhooks"
    LEDGER = "ledger"
    MAIL = "mail"


class SetupStep(StrEnum):
    """What of a link domain's setup a finding is about, in the order in which a domain is set up."""

    OWNERSHIP = "ownership"
    DNS = "dns"
    CERTIFICATE = "certificate"
    ANSWERS = "answers"
    APPS = "apps"
    LINKS = "links"


@dataclass(frozen=True, slots=True)
class Finding:
    """One result: what was examined (`subject`), the result, and what to do about it ("" if nothing).

    Those of a link domain name the step of its setup that they are about.
    """

    severity: Severity
    area: Area
    subject: str
    message: str
    advice: str = ""
    step: SetupStep | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """Creates findings of one area, or of one step of a link domain's setup."""

    area: Area
    step: SetupStep | None = None

    def ok(self, subject: str, message: str) -> Finding:
        """A finding that all is well."""
        return Finding(Severity.OK, self.area, subject, message, step=self.step)

    def info(self, subject: str, message: str, advice: str = "") -> Finding:
        """A finding that is worth knowing but no problem."""
        return Finding(Severity.INFO, self.area, subject, message, advice, self.step)

    def warning(self, subject: str, message: str, advice: str) -> Finding:
        """A finding on something that works, but may stop working or does less than it should."""
        return Finding(Severity.WARNING, self.area, subject, message, advice, self.step)

    def error(self, subject: str, message: str, advice: str) -> Finding:
        """A finding on something that does not work."""
        return Finding(Severity.ERROR, self.area, subject, message, advice, self.step)

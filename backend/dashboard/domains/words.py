"""The words for how domains and the steps of their setup stand, each with the kind of its badge."""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.domains.setup import DomainState, StepState
from backend.domain.finding import SetupStep

DOMAIN_STATES: Mapping[DomainState, tuple[str, str]] = {
    DomainState.WORKS: ("good", "Works"),
    DomainState.UNPROVED: ("warn", "Unproved"),
    DomainState.UNFINISHED: ("warn", "Unfinished"),
    DomainState.BROKEN: ("bad", "Broken"),
    DomainState.WARNING: ("warn", "Warning"),
    DomainState.UNKNOWN: ("", "Unchecked"),
}
STEP_STATES: Mapping[StepState, tuple[str, str]] = {
    StepState.DONE: ("good", "Done"),
    StepState.TO_DO: ("warn", "To do"),
    StepState.WRONG: ("bad", "Does not work"),
    StepState.WARNING: ("warn", "Warning"),
    StepState.WAITS: ("", "Comes later"),
    StepState.OPTIONAL: ("", "Optional"),
    StepState.UNKNOWN: ("", "Not checked yet"),
}
STEPS: Mapping[SetupStep, str] = {
    SetupStep.OWNERSHIP: "Show that the domain is yours",
    SetupStep.DNS: "Point it here",
    SetupStep.CERTIFICATE: "Certificate",
    SetupStep.ANSWERS: "The service answers",
    SetupStep.APPS: "Open links in an app",
    SetupStep.LINKS: "First link",
}
# What the list says is next, where nothing that was found says it.
NEXT: Mapping[SetupStep, str] = {
    SetupStep.OWNERSHIP: "Enter the TXT record, then check.",
    SetupStep.LINKS: "Make its first link.",
}

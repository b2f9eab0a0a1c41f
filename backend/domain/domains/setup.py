"""How far the setup of a link domain has come, step by step, by what was found about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from backend.domain.domains.claims import DomainClaim
from backend.domain.domains.dns import DnsPlan
from backend.domain.finding import Finding, SetupStep, Severity


class StepState(StrEnum):
    """How a step stands."""

    DONE = "done"
    TO_DO = "to_do"
    WRONG = "wrong"
    WARNING = "warning"
    WAITS = "waits"  # for an earlier step
    OPTIONAL = "optional"
    UNKNOWN = "unknown"  # nobody has looked yet


class DomainState(StrEnum):
    """How a domain stands, in one word."""

    WORKS = "works"
    UNPROVED = "unproved"
    UNFINISHED = "unfinished"
    BROKEN = "broken"
    WARNING = "warning"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """What is known of a domain without looking: whether it is shown whose it is, its apps, its links."""

    is_proved: bool
    has_apps: bool = False
    links: int = 0


@dataclass(frozen=True, slots=True)
class StepReport:
    """How a step stands, and what was found about it, the worst first."""

    step: SetupStep
    state: StepState
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class SetupReport:
    """How all steps stand, in the order in which they are taken."""

    steps: tuple[StepReport, ...]

    @property
    def next(self) -> StepReport | None:
        """The first step with something to do, or to look at; None if there is none."""
        open_states = {StepState.TO_DO, StepState.WRONG, StepState.WARNING, StepState.UNKNOWN}
        return next((report for report in self.steps if report.state in open_states), None)

    @property
    def state(self) -> DomainState:
        """How the domain stands. That it has no link yet is nothing against it."""
        states = {report.step: report.state for report in self.steps if report.step is not SetupStep.LINKS}
        if states[SetupStep.OWNERSHIP] is not StepState.DONE:
            return DomainState.UNPROVED
        for state, of_domain in _WORST_FIRST:
            if state in states.values():
                return of_domain
        return DomainState.WORKS


@dataclass(frozen=True, slots=True)
class DomainSetup:
    """How far a domain has come; with `claim` until it is proved. `at` is when it was looked at last."""

    name: str
    claim: DomainClaim | None
    at: datetime | None
    report: SetupReport
    plan: DnsPlan
    links: int


_WORST_FIRST = (
    (StepState.WRONG, DomainState.BROKEN),
    (StepState.TO_DO, DomainState.UNFINISHED),
    (StepState.WARNING, DomainState.WARNING),
    (StepState.UNKNOWN, DomainState.UNKNOWN),
)
_LEADING_HERE = (SetupStep.DNS, SetupStep.CERTIFICATE, SetupStep.ANSWERS)
# What somebody enters at a DNS provider. Of other steps an error means that something is wrong.
_ENTERED = frozenset({SetupStep.OWNERSHIP, SetupStep.DNS})
_SEVERITIES = list(Severity)
# The next step can be taken.
_PASSED = frozenset({StepState.DONE, StepState.WARNING})
_ByStep = Mapping[SetupStep, tuple[Finding, ...]]


def report_setup(findings: Sequence[Finding], facts: DomainFacts) -> SetupReport:
    """How the steps stand. `findings` are those of the last look, none if there was none."""
    found = {step: _worst_first(findings, step) for step in SetupStep}
    states = _states_until_answers(found, facts)
    is_blocked = states[SetupStep.ANSWERS] not in _PASSED
    states[SetupStep.APPS] = _apps(found[SetupStep.APPS], facts, is_blocked=is_blocked)
    no_link = StepState.WAITS if is_blocked else StepState.TO_DO
    states[SetupStep.LINKS] = StepState.DONE if facts.links else no_link
    return SetupReport(tuple(StepReport(step, states[step], found[step]) for step in SetupStep))


def _states_until_answers(found: _ByStep, facts: DomainFacts) -> dict[SetupStep, StepState]:
    """The states of the steps that each wait for the one before, up to the answers."""
    ownership = _state(SetupStep.OWNERSHIP, found[SetupStep.OWNERSHIP])
    states = {SetupStep.OWNERSHIP: StepState.DONE if facts.is_proved else ownership}
    is_blocked = not facts.is_proved
    for step in _LEADING_HERE:
        states[step] = StepState.WAITS if is_blocked else _leading_here(step, found)
        # Of what comes behind a warning nothing may be known: DNS could not be asked.
        is_blocked = states[step] not in _PASSED or (step is SetupStep.DNS and not _is_reached(found))
    return states


def _is_reached(found: _ByStep) -> bool:
    """Whether anything was found about what stands where the domain leads."""
    return bool(found[SetupStep.CERTIFICATE] or found[SetupStep.ANSWERS])


def _leading_here(step: SetupStep, found: _ByStep) -> StepState:
    if not found[step] and found[SetupStep.ANSWERS]:  # of a domain of this machine, which needs neither
        return StepState.DONE
    return _state(step, found[step])


def _apps(findings: tuple[Finding, ...], facts: DomainFacts, *, is_blocked: bool) -> StepState:
    state = _state(SetupStep.APPS, findings)
    if is_blocked and state in {StepState.DONE, StepState.UNKNOWN}:
        return StepState.WAITS if facts.has_apps else StepState.OPTIONAL
    return StepState.OPTIONAL if state is StepState.UNKNOWN and not facts.has_apps else state


def _state(step: SetupStep, findings: tuple[Finding, ...]) -> StepState:
    if not findings:
        return StepState.UNKNOWN
    match findings[0].severity:
        case Severity.ERROR:
            return StepState.TO_DO if step in _ENTERED else StepState.WRONG
        case Severity.WARNING:
            return StepState.WARNING
    return StepState.DONE


def _worst_first(findings: Sequence[Finding], step: SetupStep) -> tuple[Finding, ...]:
    of_step = (finding for finding in findings if finding.step is step)
    return tuple(sorted(of_step, key=lambda finding: -_SEVERITIES.index(finding.severity)))

"""How far the setup of a domain has come, by what was found."""

from __future__ import annotations

import pytest

from backend.domain.domains.setup import DomainFacts, DomainState, SetupReport, StepState, report_setup
from backend.domain.finding import Area, Finding, SetupStep, Severity

OK, WARNING, ERROR = Severity.OK, Severity.WARNING, Severity.ERROR
OWNERSHIP, DNS, CERTIFICATE, ANSWERS, APPS, LINKS = SetupStep
MINE = DomainFacts(is_proved=True)
CLAIMED = DomainFacts(is_proved=False)


def report(facts: DomainFacts, *found: tuple[SetupStep, Severity]) -> SetupReport:
    """The report on a domain of which this was found."""
    return report_setup(
        [Finding(severity, Area.DOMAINS, "go.shop.com", f"{step}", step=step) for step, severity in found],
        facts,
    )


SIGNS = {
    StepState.DONE: "+",
    StepState.TO_DO: "t",
    StepState.WRONG: "-",
    StepState.WARNING: "!",
    StepState.WAITS: ".",
    StepState.OPTIONAL: "o",
    StepState.UNKNOWN: "?",
}


def in_signs(of: SetupReport) -> str:
    """The state of each step."""
    return "".join(SIGNS[step.state] for step in of.steps)


@pytest.mark.parametrize(
    ("facts", "found", "steps", "state"),
    [
        (CLAIMED, [], "?...o.", DomainState.UNPROVED),
        (CLAIMED, [(OWNERSHIP, ERROR)], "t...o.", DomainState.UNPROVED),
        (CLAIMED, [(OWNERSHIP, WARNING)], "!...o.", DomainState.UNPROVED),
        (MINE, [], "+?..o.", DomainState.UNKNOWN),
        (MINE, [(DNS, ERROR)], "+t..o.", DomainState.UNFINISHED),
        (MINE, [(DNS, WARNING)], "+!..o.", DomainState.WARNING),
        (MINE, [(DNS, OK), (CERTIFICATE, ERROR)], "++-.o.", DomainState.BROKEN),
        (
            MINE,
            [(DNS, OK), (CERTIFICATE, WARNING), (ANSWERS, OK)],
            "++!+ot",
            DomainState.WARNING,
        ),
        (MINE, [(DNS, OK), (CERTIFICATE, OK), (ANSWERS, ERROR)], "+++-o.", DomainState.BROKEN),
        (MINE, [(DNS, OK), (CERTIFICATE, OK), (ANSWERS, OK)], "++++ot", DomainState.WORKS),
        (MINE, [(ANSWERS, OK)], "++++ot", DomainState.WORKS),
        (
            DomainFacts(True, True, 3),
            [(DNS, OK), (CERTIFICATE, OK), (ANSWERS, OK), (APPS, OK), (APPS, ERROR)],
            "++++-+",
            DomainState.BROKEN,
        ),
        (DomainFacts(True, True), [(DNS, ERROR), (APPS, OK)], "+t....", DomainState.UNFINISHED),
        (DomainFacts(True, True), [(DNS, ERROR), (APPS, ERROR)], "+t..-.", DomainState.BROKEN),
    ],
)
def test_each_step_waits_for_the_one_before(
    facts: DomainFacts, found: list[tuple[SetupStep, Severity]], steps: str, state: DomainState
) -> None:
    """What is found about a step says how it stands, and the worst step how the domain does."""
    of = report(facts, *found)
    assert (in_signs(of), of.state) == (steps, state)


def test_what_comes_next() -> None:
    """The first step that needs somebody, with the worst that was found; nothing where all is done."""
    broken = report(MINE, (DNS, OK), (CERTIFICATE, OK), (ANSWERS, OK), (APPS, WARNING), (APPS, ERROR))
    assert broken.next
    assert (broken.next.step, broken.next.state) == (APPS, StepState.WRONG)
    assert [finding.severity for finding in broken.next.findings] == [ERROR, WARNING]
    works = report(DomainFacts(True, False, 1), (DNS, OK), (CERTIFICATE, OK), (ANSWERS, OK))
    assert works.next is None

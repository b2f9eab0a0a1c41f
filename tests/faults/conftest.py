"""What tests of faults share, and the table of what became of what was answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from tests.faults.outcomes import TellOutcome, as_property, table
from tests.faults.visited_link import VisitedLink, visited_link

_OUTCOME = "outcome"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long` has the tests of faults last ten times as long, and prints the table."""
    parser.addoption("--long", action="store_true", help="let faults last ten times as long, print a table")


@pytest.fixture(scope="session")
def times_as_long(request: pytest.FixtureRequest) -> int:
    """How many times as long as usual faults are to last."""
    return 10 if request.config.getoption("--long", False) else 1  # not known where all tests run


@pytest.fixture
def outcome(record_property: Callable[[str, object], None]) -> TellOutcome:
    """Puts what a test found into the table at the end of the run."""
    return lambda outcome: record_property(_OUTCOME, as_property(outcome))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Print the table, where it is asked for."""
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    rows = [
        value for report in reports if getattr(report, "when", "") == "call"
        for name, value in report.user_properties if name == _OUTCOME
    ]  # fmt: skip
    if rows and config.getoption("--long", False):
        terminalreporter.section("outcomes")
        for line in table(rows):
            terminalreporter.write_line(line)


@pytest.fixture
async def link(mongodb_uri: str) -> AsyncIterator[VisitedLink]:
    """A link in a database of the test's own."""
    async with visited_link(mongodb_uri) as link:
        yield link

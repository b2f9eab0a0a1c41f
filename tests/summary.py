"""What is printed behind the tests of a run."""

from __future__ import annotations

from collections import defaultdict
from operator import itemgetter

import pytest

from tests.order import file_of

SLOWEST_SHOWN = 15


def print_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that tests told, and which files took longest."""
    reports = [
        report
        for outcome in ("passed", "failed", "error", "")  # "": what prepared a test, or cleared up behind it
        for report in terminalreporter.stats.get(outcome, [])
        if isinstance(report, pytest.TestReport)
    ]
    figures = [
        value
        for report in reports
        for name, value in report.user_properties
        if name == "figure" and report.when == "call"
    ]
    if figures:
        terminalreporter.section("figures")
        for figure in figures:
            terminalreporter.write_line(str(figure))
    seconds: defaultdict[str, float] = defaultdict(float)
    for report in reports:
        seconds[file_of(report.nodeid)] += report.duration
    if len(seconds) > 1:
        terminalreporter.section("slowest files")
        for file, taken in sorted(seconds.items(), key=itemgetter(1), reverse=True)[:SLOWEST_SHOWN]:
            terminalreporter.write_line(f"{taken:6.1f} s  {file}")

"""The table of all ways in which a call can end, in docs/decisions/sdk-endings.md."""

from __future__ import annotations

import re

from sdk_build.build import ROOT

ROW = re.compile(r"^\| .* \| `(test_\w+)` \|$", re.MULTILINE)
DEFINITION = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def test_every_end_has_a_test() -> None:
    """Each row of the table names a test that there is."""
    table = (ROOT / "docs" / "decisions" / "sdk-endings.md").read_text()
    rows = [line for line in table.splitlines() if line.startswith("| **")]
    named = ROW.findall(table)
    folders = (ROOT / "tests" / "browser", ROOT / "tests" / "sdk")
    tests = {
        name
        for folder in folders
        for file in folder.rglob("test_*.py")
        for name in DEFINITION.findall(file.read_text())
    }
    assert len(named) == len(rows) > 10
    assert set(named) <= tests

"""Faults are planted where their lines stand, and taken back."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.planted_faults.changes import changed
from tests.planted_faults.choosing import choose
from tests.planted_faults.faults import Fault, planted, read_list, write_list


def test_a_fault_keeps_its_place_when_its_lines_move(tmp_path: Path) -> None:
    """It stands there meanwhile, and has no place once its lines are gone or stand twice."""
    fault = Fault("1", "backend/old.py", "    return a < b\n", "    return a <= b\n")
    new = tmp_path / "backend" / "links" / "new.py"
    new.parent.mkdir(parents=True)
    right = "def less(a, b):\n    return a < b\n"
    new.write_text(right)
    assert fault.place(tmp_path) == new
    with planted(fault, new):
        assert new.read_text() == right.replace("<", "<=")
    assert new.read_text() == right
    new.write_text(right * 2)
    assert fault.place(tmp_path) is None
    new.unlink()
    assert fault.place(tmp_path) is None


def test_chosen_faults_are_other_code(tmp_path: Path) -> None:
    """Each changes one statement of a function to another one that compiles, always the same for a seed."""
    folder = tmp_path / "backend" / "links"
    folder.mkdir(parents=True)
    (tmp_path / "sdk_src").mkdir()
    for number in range(9):
        function = f"    if a > {number} and not b:\n        c(b)\n    return [a, '$gte', max(a, b, key=d)]\n"
        (folder / f"f{number}.py").write_text(f"def f(a, b, c, d):\n{function}")
    faults = choose(tmp_path, 9, 1)
    assert len(faults) == 9
    assert faults == choose(tmp_path, 9, 1)
    for fault in faults:
        text = (tmp_path / fault.file).read_text()
        assert text.count(fault.before) == 1
        other = ast.dump(ast.parse(text.replace(fault.before, fault.after)))
        assert other != ast.dump(ast.parse(text))
    write_list(faults, tmp_path / "list")
    assert read_list(tmp_path / "list") == faults


def test_each_kind_of_change() -> None:
    """Bounds, conditions, operators of texts, options and calls are changed one at a time."""
    for text, expected in {
        "a < b": {"a <= b"},
        "x = a or b": {"x = a and b"},
        "x = '$gte'": {"x = '$gt'"},
        "x = f(a, b=1)": {"x = f(a)", "x = f(a, b=2)"},
        "f(a)": {"pass"},
        "x = min(a)": {"x = max(a)"},
        "x = {'a': b, 'c': d}": {"x = {'c': d}", "x = {'a': b}"},
        "break": {"continue"},
    }.items():
        [statement] = ast.parse(text).body
        assert {ast.unparse(other) for other in changed(statement)} == expected

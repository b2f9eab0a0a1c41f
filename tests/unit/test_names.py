"""What names stand for."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend"
# Where a line begins with it, as `ruff format` has it; names with an underscore are a file's own.
CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)


def test_a_name_has_one_meaning() -> None:
    """No two files define a class of the same name: who reads it need not ask which one is meant."""
    defined = Counter(name for file in BACKEND.rglob("*.py") for name in CLASS.findall(file.read_text()))
    assert defined["Settings"] == 1
    assert [name for name, files in defined.items() if files > 1] == []

"""What names stand for."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend"
# Where a line begins with it, as `ruff format` has it; names with an underscore are a file's own.
CLASS = re.compile(r"^class ([^\W_]\w*)", re.MULTILINE)
# Such as `Rows = list[Row]`, also over some lines; names in capitals are constants.
ALIAS = re.compile(r"^([A-Z]\w*[a-z]\w*)(?:: TypeAlias)? = (.*(?:\n[ )\]}].*)*)", re.MULTILINE)


def meanings() -> dict[str, set[str]]:
    """What each name stands for: a class for itself, another type for what it is made of."""
    found = defaultdict(set)
    for file in BACKEND.rglob("*.py"):
        text = file.read_text()
        for name in CLASS.findall(text):
            found[name].add(f"the class of {file.relative_to(BACKEND)}")
        for name, made_of in ALIAS.findall(text):
            if not (name.endswith("T") and made_of.startswith("TypeVar(")):  # a placeholder, by its ending
                found[name].add(made_of)
    return found


def test_a_name_has_one_meaning() -> None:
    """No two files give one name to different types: who reads it need not ask which one is meant."""
    found = meanings()
    assert found["Settings"] == {"the class of settings.py"}
    assert found["CourseRow"] == {"tuple[str, list[int]]"}
    assert {name: each for name, each in found.items() if len(each) > 1} == {}

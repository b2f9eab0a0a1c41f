"""What names stand for."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend"


def test_a_name_has_one_meaning() -> None:
    """No two files define a class of the same name: who reads it need not ask which one is meant."""
    defined = Counter(
        node.name
        for file in BACKEND.rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, files in defined.items() if files > 1] == []

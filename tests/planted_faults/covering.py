"""Which files of tests are to find a fault: those nearest to the file that it stands in."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

# Kept few, so that a fault that no test near it finds is one that is not found.
_MOST_FILES = 12
# What is compared with a build, or only looks at the code, finds any change.
_NOT_OF_BEHAVIOUR = ("architecture", "packaging", "planted_faults")


def covering(root: Path, file: Path) -> list[str]:
    """Files of tests, the nearest first, relative to the root."""
    module = ".".join(file.with_suffix("").parts)
    words = _words(file)
    ranked = []
    for test, text, test_words in _tests(root):
        is_importer = bool(re.search(rf"\b{re.escape(module)}\b", text))
        shared = len(words & test_words)
        is_near = test.parts[1:-1] == file.parts[1:-1] or test.stem == f"test_{file.stem}"
        ranked.append(((-4 * is_importer - 3 * is_near - shared, len(text)), test.as_posix()))
    return [test for _, test in sorted(ranked)[:_MOST_FILES]]


@lru_cache
def _tests(root: Path) -> list[tuple[Path, str, frozenset[str]]]:
    found = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        test = path.relative_to(root)
        if test.parts[1] in _NOT_OF_BEHAVIOUR or test.name == "test_build.py":
            continue
        found.append((test, path.read_text(), _words(test)))
    return found


def _words(file: Path) -> frozenset[str]:
    """The words in the names of a file and its folders, in the singular."""
    parts = file.with_suffix("").parts[1:]
    return frozenset(word.removesuffix("s") for part in parts for word in part.split("_"))

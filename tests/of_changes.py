"""`python -m tests.of_changes`: the tests that `make quick` runs, one path a line.

They are the tests of the architecture, the files of tests that differ from main or are not committed, and for
each such file of code the tests with its name. For a file of `domain`, whose tests need no database, they are
all tests of its folder.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = "tests/architecture"


def chosen_for(changed: Iterable[Path], tests: Iterable[Path]) -> list[str]:
    """What to run for these changed files, of all files of tests. Paths are relative to the project."""
    chosen = {ALWAYS}
    known = set(tests)
    for file in changed:
        if file in known:
            chosen.add(str(file))
        elif file.parts[:2] == ("backend", "domain"):
            chosen |= {str(test) for test in known if _is_in(test, Path("tests", *file.parts[1:-1]))}
        elif file.suffix == ".py":
            chosen |= {str(test) for test in known if test.stem == f"test_{file.stem}" and _share(test, file)}
    return sorted(chosen)


def _is_in(test: Path, folder: Path) -> bool:
    return test.parent == folder


def _share(test: Path, file: Path) -> bool:
    """Whether both are about one subject: two files may have one name."""
    return not {*test.parts[1:-1]}.isdisjoint({*file.parts[:-1], "sdk" if file.parts[0] == "sdk_src" else ""})


def changed_files() -> list[Path]:
    """The files that differ from main, and those that git does not know yet. Deleted ones are left out."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    names = [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]
    return [Path(name) for name in names if (ROOT / name).exists()]


def _git(*arguments: str) -> list[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def main() -> None:
    """Print them."""
    tests = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")]
    print("\n".join(chosen_for(changed_files(), tests)))


if __name__ == "__main__":
    main()

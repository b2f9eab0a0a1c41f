"""Who asks what time it is (backend/system/clock.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

BACKEND = Path(__file__).parents[2] / "backend"
# What tells the time of this machine. `time.monotonic` and the like only measure how long something takes.
MACHINE_CLOCK = {
    "datetime.date.today", "datetime.datetime.now", "datetime.datetime.today", "datetime.datetime.utcnow",
    "time.clock_gettime", "time.clock_gettime_ns", "time.ctime", "time.gmtime", "time.localtime", "time.time",
    "time.time_ns",
}  # fmt: skip
IMPORT = re.compile(r"^[ \t]*(?:from|import) (?:[^(\n]*\([^)]*\)|.*)", re.MULTILINE)
# The web server's own times, such as that of an answer's Date header, are no part of what the service does.
WEB_SERVER = "serving/hypercorn_server.py"
# What puts the parts together, and what runs them.
EDGES = ("app.py", "cli/", "storage/columns/question_server.py")


def used_names(source: str) -> set[str]:
    """The names of other modules that Python code uses, whole, however it imports them: the same of
    `import datetime as dt; dt.datetime.now()` and of `from datetime import datetime; datetime.now()`."""
    tree = ast.parse(source)
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            # `import backend.system.clock` gives the name `backend`.
            firsts = {alias.name.split(".")[0] for alias in node.names if not alias.asname}
            imported |= {module: module for module in firsts}
            imported |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    found = set(imported.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, *rest = _parts(node)
            if first in imported:
                found.add(".".join([imported[first], *rest]))
    return found


def _parts(node: ast.expr) -> list[str]:
    """`datetime`, `now` of `datetime.now`; an empty name where it begins with something else than a name."""
    if isinstance(node, ast.Attribute):
        return [*_parts(node.value), node.attr]
    return [node.id if isinstance(node, ast.Name) else ""]


def may_use(source: str, names: set[str]) -> bool:
    """Whether the code imports something of the first part of one of these names, and imports its last part
    or reads that of something: few files do, and only those are worth parsing."""
    imported = set(re.findall(r"\w+", " ".join(IMPORT.findall(source))))
    used = imported.union(re.findall(r"\.(\w+)", source))
    return any(name.split(".")[0] in imported and name.split(".")[-1] in used for name in names)


def files_with(names: set[str]) -> Iterator[str]:
    """The files of the service that use one of these names."""
    for file in sorted(BACKEND.rglob("*.py")):
        source = file.read_text()
        if may_use(source, names) and used_names(source) & names:
            yield file.relative_to(BACKEND).as_posix()


def test_only_the_clock_reads_the_machines() -> None:
    """Everything else is told what time it is, so that a test can choose it."""
    assert list(files_with(MACHINE_CLOCK)) == [WEB_SERVER, "system/clock.py"]


def test_only_the_edges_name_the_clock() -> None:
    """Below them, a time or a clock is passed in; nothing takes the machine's by itself."""
    found = list(files_with({"backend.system.clock.utc_now"}))
    assert "app.py" in found
    assert [file for file in found if not file.startswith(EDGES)] == []


def test_other_ways_to_write_it() -> None:
    """The clock is seen under another name as well, also where it is only passed on."""
    ways = (
        "import datetime\nx = datetime.datetime.now()",
        "import datetime as dt\nx = dt.datetime.now(dt.UTC)",
        "from datetime import datetime\nx = datetime.now",
        "from datetime import datetime as moment\ndef x():\n    return moment.utcnow()",
        "from datetime import date\nx = date.today().year",
        "from time import time\nx = time()",
    )
    assert [bool(used_names(way) & MACHINE_CLOCK) for way in ways] == [True] * len(ways)
    assert [may_use(way, MACHINE_CLOCK) for way in ways] == [True] * len(ways)
    assert "backend.system.clock.utc_now" in used_names(
        "import backend.system.clock\nx = backend.system.clock.utc_now()"
    )
    passed_in = "from datetime import datetime\ndef x(self, now: datetime):\n    return self.now, now"
    assert not used_names(passed_in) & MACHINE_CLOCK

"""`python -m tests.planted_faults`: plants faults, one at a time, and says which of them the tests find.

`choose` makes the list of faults anew. `run` plants those of the list in a copy of the last commit, and runs
the tests nearest to each. What was found stands in a file, so that a run goes on where it was stopped, and
the tests of two commits can be compared: a fault keeps its place when its lines move to another file.
`found.jsonl` beside this file has what the tests of November 2026 found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.planted_faults.choosing import choose
from tests.planted_faults.covering import covering
from tests.planted_faults.faults import LIST, Fault, planted, read_list, write_list

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "build" / "planted_faults.jsonl"
_SECONDS = 300


def main() -> None:
    """Do what the command line asks for."""
    options = _options()
    if options.command == "choose":
        faults = choose(ROOT, options.count, options.seed)
        write_list(faults)
        print(f"{len(faults)} faults in {LIST.relative_to(ROOT)}")
        return
    told = _told(options.results) if options.results.exists() else {}
    waiting = [fault for fault in read_list() if fault.id not in told and fault.id.startswith(options.only)]
    options.results.parent.mkdir(exist_ok=True)
    copies: SimpleQueue[Path] = SimpleQueue()
    with _copies(options.jobs, copies), ThreadPoolExecutor(options.jobs) as pool:
        for number, result in enumerate(pool.map(lambda fault: _try(fault, copies), waiting), 1):
            with options.results.open("a") as results:
                results.write(json.dumps(result) + "\n")
            what = result["by"] or result["file"]
            print(f"{number}/{len(waiting)} {result['id']} {result['found']}: {what}", flush=True)
    _summarize(_told(options.results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.planted_faults", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    choosing = commands.add_parser("choose", help="make the list of faults anew")
    choosing.add_argument("--count", type=int, default=300, help="about how many (default: 300)")
    choosing.add_argument("--seed", type=int, default=57, help="what they are chosen by (default: 57)")
    running = commands.add_parser("run", help="plant each fault of the list, and run the tests nearest to it")
    running.add_argument("--only", default="", metavar="ID", help="the fault whose id begins so")
    running.add_argument("--jobs", type=int, default=1, help="how many at a time (default: 1)")
    running.add_argument("--results", type=Path, default=FOUND, help="what was found (default: build/)")
    return parser.parse_args()


@contextmanager
def _copies(count: int, copies: SimpleQueue[Path]) -> Iterator[None]:
    """So many copies of the last commit, which share what is installed."""
    with tempfile.TemporaryDirectory(prefix="planted") as folder:
        made = [Path(folder, str(number)) for number in range(count)]
        for copy in made:
            _git("worktree", "add", "--quiet", "--detach", str(copy), "HEAD")
            (copy / ".venv").symlink_to(ROOT / ".venv")
            copies.put(copy)
        try:
            yield
        finally:
            for copy in made:
                _git("worktree", "remove", "--force", str(copy))


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True)


def _try(fault: Fault, copies: SimpleQueue[Path]) -> dict[str, str]:
    """Whether a test finds the fault, and which one; `gone` if its lines stand nowhere, or not once."""
    copy = copies.get()
    try:
        path = fault.place(copy)
        if path is None:
            return _result(fault, "gone")
        with planted(fault, path):
            return _tested(fault, copy, path.relative_to(copy))
    finally:
        copies.put(copy)


def _tested(fault: Fault, copy: Path, file: Path) -> dict[str, str]:
    python, begun = str(ROOT / ".venv/bin/python"), time.monotonic()
    environment = os.environ | {"PYTHONPATH": str(copy), "CI": "true"}
    if file.parts[0] == "sdk_src" and not _builds(copy, python, environment):
        return _result(fault, "found", "the build")
    command = [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *covering(copy, file)]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return _result(fault, "found", f"nothing answered in {_SECONDS} s")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    seconds = f"{time.monotonic() - begun:.0f}"
    if done.returncode:
        return _result(fault, "found", failed[1] if failed else done.stdout[-300:], seconds)
    return _result(fault, "missed", seconds=seconds)


def _builds(copy: Path, python: str, environment: dict[str, str]) -> bool:
    built = subprocess.run(
        [python, "-m", "sdk_build"], cwd=copy, env=environment, capture_output=True, check=False
    )
    return built.returncode == 0


def _result(fault: Fault, found: str, by: str = "", seconds: str = "") -> dict[str, str]:
    return {"id": fault.id, "file": fault.file, "found": found, "by": by, "seconds": seconds}


def _told(path: Path) -> dict[str, dict[str, str]]:
    results = map(json.loads, path.read_text().splitlines())
    return {result["id"]: result for result in results}


def _summarize(told: dict[str, dict[str, str]]) -> None:
    rooms: dict[str, Counter[str]] = {}
    for result in told.values():
        parts = Path(result["file"]).parts
        rooms.setdefault("/".join(parts[: 2 if len(parts) > 2 else 1]), Counter())[result["found"]] += 1
    for room, counts in sorted(rooms.items()):
        print(f"{room:32}" + "".join(f"{counts[word]:4} {word}" for word in ("found", "missed", "gone")))
    print(Counter(result["found"] for result in told.values()))


if __name__ == "__main__":
    main()

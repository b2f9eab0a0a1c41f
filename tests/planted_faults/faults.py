"""Planted faults: where each stands, what it changes, and a list of them in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

LIST = Path(__file__).parent / "faults.jsonl"
ROOMS = ("backend", "sdk_src")


@dataclass(frozen=True)
class Fault:
    """A change of whole lines. The lines before it say where it stands, also after they moved elsewhere."""

    id: str
    file: str
    before: str
    after: str

    def place(self, root: Path) -> Path | None:
        """The file in which the lines stand: its own, or else the only one; None if there is none."""
        own = root / self.file
        if own.exists() and own.read_text().count(self.before) == 1:
            return own
        room = root / Path(self.file).parts[0]
        found = [path for path in sorted(room.rglob("*.py")) if self.before in path.read_text()]
        return found[0] if len(found) == 1 and found[0].read_text().count(self.before) == 1 else None


@contextmanager
def planted(fault: Fault, path: Path) -> Iterator[None]:
    """The fault stands in this file meanwhile."""
    right = path.read_text()
    try:
        _write(path, right.replace(fault.before, fault.after))
        yield
    finally:
        _write(path, right)


def _write(path: Path, text: str) -> None:
    path.write_text(text)
    # Python tells compiled files by size and second.
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def read_list(path: Path = LIST) -> list[Fault]:
    """The faults of the list."""
    return [Fault(**json.loads(line)) for line in path.read_text().splitlines()]


def write_list(faults: Sequence[Fault], path: Path = LIST) -> None:
    """Write the list anew."""
    path.write_text("".join(json.dumps(asdict(fault), ensure_ascii=False) + "\n" for fault in faults))

"""What became of what was answered: the rows of the table that `pytest tests/faults --long` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass

HEAD = ("scenario", "answered", "stored", "lost", "doubled", "longest wait")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many were answered and how many are stored.

    `longest_wait` is in seconds, None where it was not measured. `cut_off` requests were sent and never
    answered: each may be stored or not.
    """

    scenario: str
    answered: int
    stored: int
    longest_wait: float | None = None
    cut_off: int = 0

    def cells(self) -> Sequence[str]:
        """What the table shows of it, a text for each column."""
        lost = max(0, self.answered - self.stored)
        doubled = max(0, self.stored - self.answered - self.cut_off)
        answered = f"{self.answered:,}" + (f", {self.cut_off} cut off" if self.cut_off else "")
        longest_wait = "-" if self.longest_wait is None else f"{self.longest_wait:.2f} s"
        return (
            self.scenario, answered, f"{self.stored:,}", f"{lost:,}", f"{doubled:,}", longest_wait,
        )  # fmt: skip


TellOutcome = Callable[[Outcome], None]


def as_property(outcome: Outcome) -> list[object]:
    """What a test's report carries; it may come from another process, as JSON does."""
    return list(astuple(outcome))


def table(properties: Iterable[Sequence[object]]) -> list[str]:
    """The lines of the table, in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD), *(Outcome(*outcome).cells() for outcome in properties)]  # type: ignore[arg-type]
    return [f"| {' | '.join(cells)} |" for cells in rows]

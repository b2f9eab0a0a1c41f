"""Answers that are files: made as a whole where the facts are, then read by who asked, on the same host."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO
from uuid import uuid4

from backend.storage.analytics.question import Facts, LongQuestion


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """A file that was made: where it is, how many rows it has, and sentences for people about them."""

    path: str
    rows: int
    notes: Sequence[str] = ()


class FileQuestion(LongQuestion[int | FileAnswer]):
    """A question whose answer is a file.

    Its pieces are numbers, which say that it is being made, and then the file. Whoever asked opens it and
    gives the question up, or goes away: then the file is deleted.
    """

    def write(self, facts: Facts, folder: Path) -> Generator[int, None, FileAnswer]:
        """Make the file in this folder, step by step: between two steps it can be given up."""
        raise NotImplementedError

    def pieces(self, facts: Facts) -> Generator[int | FileAnswer, None, None]:
        """Signs of progress, then the file."""
        folder = facts.files / str(uuid4())
        folder.mkdir()
        try:
            yield (yield from self.write(facts, folder))
        finally:
            shutil.rmtree(folder)


@dataclass(frozen=True, slots=True)
class MadeFile:
    """A file that was made, open for reading, and what is said of it. It is closed at a block's end."""

    file: BinaryIO
    rows: int
    notes: Sequence[str]

    @classmethod
    def open(cls, answer: FileAnswer) -> MadeFile:
        """Open it. Raises OSError."""
        return cls(Path(answer.path).open("rb"), answer.rows, answer.notes)

    def __enter__(self) -> MadeFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.file.close()

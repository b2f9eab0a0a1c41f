"""Questions about an organization's facts. They go to the process that has the facts, as pickles."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from backend.storage.driver.mongo import StorageError

if TYPE_CHECKING:  # those who ask have no use for DuckDB, which takes memory
    from duckdb import DuckDBPyConnection

AnswerT = TypeVar("AnswerT")
AnswerT_co = TypeVar("AnswerT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Facts:
    """An organization's facts as of one moment: its tables, by a connection inside a transaction.

    Data about visitors is kept for `retention_days`, None for without limit. `now` is when it was asked.
    `files` is the folder where files are made. `event_properties` are those that the organization has marked.
    `notes` are sentences for people about the facts themselves, for answers that have notes.
    """

    connection: DuckDBPyConnection
    retention_days: int | None
    now: datetime
    files: Path
    event_properties: Sequence[str] = ()
    notes: Sequence[str] = ()


class Question(Generic[AnswerT_co]):
    """A question, with all that it needs to be answered from facts."""

    def answer(self, facts: Facts) -> AnswerT_co:
        """The answer. Raises FieldError where it can't be answered as it is asked."""
        raise NotImplementedError


class LongQuestion(Question[None], Generic[AnswerT_co]):
    """A question whose answer comes in pieces, however many."""

    def pieces(self, facts: Facts) -> Generator[AnswerT_co, None, None]:
        """The answer, piece by piece. It is closed where nobody wants the rest."""
        raise NotImplementedError


class FactsNotReady(StorageError):
    """The organization's facts are being put into columns, so that nothing can be answered yet.

    So many of its clicks are there already; None where only what came since the last question is missing.
    Whoever asked may ask again after `retry_after` seconds.
    """

    retry_after = 5

    def __init__(self, clicks: int | None = None) -> None:
        super().__init__(
            "The figures are being brought up to date, since much has come. Ask again in some seconds."
            if clicks is None
            else "The figures are being made anew from what is stored: "
            f"{clicks:,} clicks are counted so far. Nothing is lost; ask again in some seconds."
        )
        self.clicks = clicks

    def __reduce__(self) -> tuple[type[FactsNotReady], tuple[int | None]]:
        return type(self), (self.clicks,)


class NoAnswer(StorageError):
    """The process that answers questions can't do so now. The message says why."""

    def __reduce__(self) -> tuple[type[NoAnswer], tuple[str]]:
        return type(self), (str(self),)


class NotNow(NoAnswer):
    """Others have what the answer needs, or time was too short. It passes: whoever asked may ask again."""


class TooMuch(NoAnswer):
    """A question needs more time or memory than the settings allow. The message says what to do."""

"""The options that say what a query of analytics asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import click

from backend.cli.analytics.credit_options import credit_options
from backend.cli.analytics.filter_options import FILTER_OPTIONS, GivenFilters, filter_options
from backend.cli.options import with_options
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import Comparison, WeekStart
from backend.domain.analytics.query import Field
from backend.domain.errors import InvalidField


def _names(of: type[StrEnum]) -> str:
    return ", ".join(of)


def _words(of: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([member.value for member in of])


def query_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each field of a query but its limit. `GivenQuery.of` takes their values."""
    options = (
        click.option("--measures", default="clicks", help=f"With commas between them: {_names(Measure)}."),
        click.option(
            "--group-by",
            default="",
            help=f"What a row is of, up to four with commas: {_names(Field)}, event.NAME.",
        ),
        click.option(
            "--from", "from_", help="The beginning, as 2026-01-31 (in the time zone).  [default: 28 days]"
        ),
        click.option("--to", help="The end, which is not included.  [default: the end of today]"),
        click.option(
            "--period",
            type=_words(MovingPeriod),
            help="Instead of --from and --to; those with today end with the current quarter of an hour.",
        ),
        click.option("--timezone", help="IANA time zone whose days count, as Europe/Berlin.  [default: UTC]"),
        click.option(
            "--week-starts", type=_words(WeekStart), help="The day on which weeks begin.  [default: monday]"
        ),
        filter_options,
        click.option(
            "--compare",
            type=_words(Comparison),
            help="With the time before, or a year before; a note says with what.",
        ),
        click.option(
            "--change",
            is_flag=True,
            help="By which share each measure changed against that time: 0.5 is half as much again.",
        ),
        click.option("--currency", help="Conversions in this currency only; needed to sort by an amount."),
        credit_options,
        click.option(
            "--order-by",
            help="A measure or field, or with --change change. and a measure, as change.clicks; "
            "with - before it for descending.",
        ),
    )
    return with_options(command, options)


@dataclass(frozen=True, slots=True)
class GivenQuery:
    """A query that options ask for: `body` as over REST, and the options that filter, by their fields."""

    body: dict[str, Any]
    options: Mapping[str, str]

    @classmethod
    def of(cls, values: Mapping[str, Any], limit: int | None) -> GivenQuery:
        """The query of these values of `query_options`; None stands for what is not given.

        Raises UsageError.
        """
        filters = GivenFilters.of(*(values[name] for name in FILTER_OPTIONS))
        others = {name: value for name, value in values.items() if name not in FILTER_OPTIONS}
        body = {name.rstrip("_"): value for name, value in others.items() if value not in (None, False)}
        for name in ("measures", "group_by"):
            body[name] = body[name].split(",") if body[name] else []
        if limit is not None:
            body["limit"] = limit
        return cls(body | {"filters": filters.body}, filters.options)

    @contextmanager
    def naming_options(self) -> Iterator[None]:
        """Raise UsageError, which names the option, for an InvalidField of the query in the block."""
        try:
            yield
        except InvalidField as error:
            name, _, field = error.field.removeprefix("query.").partition(".")
            if field:
                option = self.options.get(field, "--filter")
                raise click.UsageError(f"{option} {field} {error.rule}") from None
            raise click.UsageError(f"--{name.replace('_', '-')} {error.rule}") from None

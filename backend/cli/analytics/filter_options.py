"""The options that filter a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from backend.cli.options import with_options

_ONLY, _NOT, _PREFIX = "--filter", "--filter-not", "--filter-prefix"
# The names of the options' values, in the order in which `GivenFilters.of` takes them.
FILTER_OPTIONS = ("filters", "filters_not", "filters_prefix")


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --filter, --filter-not and --filter-prefix. The command gets them by the names FILTER_OPTIONS."""
    options = (
        click.option(
            _ONLY, "filters", multiple=True, metavar="FIELD=VALUE", help="Only these; may be repeated."
        ),
        click.option(
            _NOT,
            "filters_not",
            multiple=True,
            metavar="FIELD=VALUE",
            help="All but these; may be repeated.",
        ),
        click.option(
            _PREFIX,
            "filters_prefix",
            multiple=True,
            metavar="FIELD=TEXT",
            help="Only what begins with this; may be repeated for other fields.",
        ),
    )
    return with_options(command, options)


@dataclass(frozen=True, slots=True)
class GivenFilters:
    """The filters of a query, by field: `body` as the query's body has them, `options` with their option."""

    body: dict[str, object]
    options: dict[str, str]

    @classmethod
    def of(cls, only: Sequence[str], without: Sequence[str], prefixes: Sequence[str]) -> GivenFilters:
        """Parse the options' values. Raises UsageError, also for a field with filters of two options."""
        options: dict[str, str] = {}
        values: dict[str, list[str]] = {}
        for option, texts in ((_ONLY, only), (_NOT, without), (_PREFIX, prefixes)):
            for text in texts:
                field, separator, value = text.partition("=")
                if not separator:
                    form = "FIELD=TEXT" if option == _PREFIX else "FIELD=VALUE"
                    raise click.UsageError(f"{option} {text} must be {form}")
                other = options.setdefault(field, option)
                if other != option:
                    raise click.UsageError(f"{option} {field} can't be given beside {other} {field}")
                values.setdefault(field, []).append(value)
        return cls({field: _filter(options[field], field, texts) for field, texts in values.items()}, options)


def _filter(option: str, field: str, texts: list[str]) -> object:
    if option == _PREFIX:
        if len(texts) > 1:
            raise click.UsageError(f"{option} {field} can't be given twice")
        return {"prefix": texts[0]}
    values = [text or None for text in texts]
    return {"not": values} if option == _NOT else values

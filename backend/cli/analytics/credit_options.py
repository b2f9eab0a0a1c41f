"""The options that say how credit is given for leads and conversions."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import click

from backend.cli.options import with_options
from backend.domain.sales.credit_rules import CreditTo, Model


def _words(of: type[StrEnum]) -> click.Choice[str]:
    return click.Choice([member.value for member in of])


def credit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --credit, --model, --lookback-days and --as-of; one that is not given is None."""
    options = (
        click.option("--credit", type=_words(CreditTo), help="Whose touches count.  [default: device]"),
        click.option(
            "--model",
            "--touch",
            "model",
            type=_words(Model),
            help="Which touches get the credit.  [default: last_non_direct]",
        ),
        click.option("--lookback-days", type=int, help="How old a touch may be.  [default: no limit]"),
        click.option("--as-of", help="As it stood at the end of this day, as 2026-01-31.  [default: now]"),
    )
    return with_options(command, options)

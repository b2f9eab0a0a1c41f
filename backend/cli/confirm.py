"""Asks for confirmation before something is deleted for good."""

from __future__ import annotations

import click

NOT_CONFIRMED = "Nothing was changed, since it was not confirmed. In a script, add --yes."
yes_option = click.option("--yes", "is_confirmed", is_flag=True, help="Don't ask for confirmation.")


def confirm(question: str, is_confirmed: bool) -> None:
    """Ask at the terminal, unless it `is_confirmed` by --yes.

    Raises ClickException if the answer is no, or if nobody can answer; with --json, nobody is asked.
    """
    if is_confirmed:
        return
    _refuse_for_scripts()
    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        raise click.ClickException(NOT_CONFIRMED) from None


def confirm_by_name(question: str, name: str, is_confirmed: bool) -> None:
    """As `confirm`, but the answer must be `name`: for commands that delete very much."""
    if is_confirmed:
        return
    _refuse_for_scripts()
    try:
        typed = click.prompt(f"{question} Type its name to go on", err=True)
    except click.Abort:
        typed = None
    if typed != name:
        raise click.ClickException(NOT_CONFIRMED)


def _refuse_for_scripts() -> None:
    """Raise ClickException where the answer is read by a program, to which a question would be no JSON."""
    if click.get_current_context().params.get("as_json"):
        raise click.ClickException(NOT_CONFIRMED)

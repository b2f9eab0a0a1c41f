"""The error for a field that is refused, which names the option that gave the field."""

from __future__ import annotations

import re

import click

from backend.cli.printable import printable

_FIRST_NAME = re.compile(r"\w+")


class RefusedField(click.UsageError):
    """A field was refused. With --json, the error has its name, as REST has it."""

    def __init__(self, field: str, rule: str) -> None:
        super().__init__(printable(f"{_given_by(field)} {rule}"))
        self.field = field


def _given_by(field: str) -> str:
    """The field as it was given: by an option of its own or by --field, and where in it."""
    name_match = _FIRST_NAME.match(field)
    name = name_match[0] if name_match else field
    for parameter in click.get_current_context().command.params:
        if parameter.name == name and isinstance(parameter, click.Option):
            return parameter.opts[0] + field.removeprefix(name)
    return f"--field {field}"

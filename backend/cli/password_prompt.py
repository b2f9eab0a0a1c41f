"""Passwords are asked for or read from standard input: arguments are seen by whoever lists processes."""

from __future__ import annotations

import sys

import click

stdin_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input instead of asking for it."
)


def read_password(from_stdin: bool) -> str:
    """The password, typed twice at the terminal, or the first line of standard input."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))

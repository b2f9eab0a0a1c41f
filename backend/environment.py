"""Reads the settings from `WAYLINK_*` environment variables and the file `.env`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from backend.domain.errors import OperatorError
from backend.settings import InvalidSetting, Settings
from backend.system.environment_file import environment_in

PREFIX = "WAYLINK_"
_DOTENV = Path(".env")
_reads_dotenv = ContextVar("reads_dotenv", default=True)


def load_settings(environment: Mapping[str, str] | None = None, dotenv: Path = _DOTENV) -> Settings:
    """Read the settings from `environment` (None: the process's own), then from the file `dotenv`.

    The environment wins. An empty value counts as not set. Raises InvalidSetting.
    """
    variables = _variables(environment, dotenv)
    items = {variable_name(item): item for item in fields(Settings)}
    return Settings(
        **{
            items[name].name: _parse(items[name], text)
            for name, text in variables.items()
            if name in items and text
        }
    )


@contextmanager
def only_settings(variables: Mapping[str, str]) -> Iterator[None]:
    """Have no other settings than these until the block ends: none of the environment, and none of `.env`.

    A command about the installation that somebody names must not get a part of another one's settings.
    """
    before = {name: text for name, text in os.environ.items() if name.startswith(PREFIX)}
    token = _reads_dotenv.set(False)
    try:
        _replace(variables)
        yield
    finally:
        _replace(before)
        _reads_dotenv.reset(token)


def _replace(variables: Mapping[str, str]) -> None:
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        del os.environ[name]
    os.environ.update({name: text for name, text in variables.items() if name.startswith(PREFIX)})


def names_installation() -> bool:
    """Whether environment or `.env` say where the data is: a MongoDB server, or a data folder by its name."""
    variables = _variables(None, _DOTENV)
    return any(variables.get(f"{PREFIX}{name}") for name in ("MONGODB_URI", "DATA_DIR"))


def shown_values(settings: Settings) -> dict[str, object]:
    """The values by their variables, to be read by anyone: passwords and tokens are `***` in them."""
    values = {variable_name(item): getattr(settings, item.name) for item in fields(settings)}
    return values | {
        variable_name(item): item.metadata["shown"](getattr(settings, item.name))
        for item in fields(settings)
        if "shown" in item.metadata and getattr(settings, item.name)
    }


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables that start with `WAYLINK_` but belong to no setting: probably misspelt."""
    names = {variable_name(item) for item in fields(Settings)}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in names)


def variable_name(item: Field[Any]) -> str:
    """The environment variable of a field of Settings."""
    return PREFIX + item.name.upper()


def settings_in(path: Path) -> dict[str, str]:
    """The variables that a file sets, in the form of .env; none if there is no such file.

    Raises OperatorError if it is not text.
    """
    try:
        return {name: text for name, text in dotenv_values(path).items() if text is not None}
    except UnicodeDecodeError:
        raise OperatorError(f"{path} can't be read: it is not text in UTF-8.") from None


def settings_beside(path: Path) -> dict[str, str]:
    """The variables that a service's file sets, as systemd reads it.

    Relative paths are taken from the file's folder, wherever the command is run. Raises OperatorError if the
    file can't be read.
    """
    try:
        variables = environment_in(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path} can't be read: {getattr(error, 'strerror', None) or error}.") from None
    paths = {variable_name(item) for item in fields(Settings) if str(item.type).startswith("Path")}
    return {
        name: str(path.parent / text) if name in paths and text else text for name, text in variables.items()
    }


def _variables(environment: Mapping[str, str] | None, dotenv: Path) -> dict[str, str]:
    beside = settings_in(dotenv) if _reads_dotenv.get() else {}
    return beside | dict(os.environ if environment is None else environment)


def _parse(item: Field[Any], text: str) -> Any:
    try:
        return item.metadata["parse"](text)
    except (ValueError, KeyError):
        raise InvalidSetting(variable_name(item), text, item.metadata["rule"]) from None

"""`waylink settings`, and the page that is made from it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

from click.testing import CliRunner

from backend.cli import main
from backend.environment import variable_name
from backend.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_is_what_the_command_prints() -> None:
    """docs/settings.md holds the table that `waylink settings --markdown` prints now."""
    printed = CliRunner().invoke(main, ["settings", "--markdown"]).stdout
    assert printed in PAGE.read_text(), (
        "renew the table of docs/settings.md with `waylink settings --markdown`"
    )


def test_every_setting_is_listed_with_its_value() -> None:
    """Each variable is printed with the value in force and its meaning, or as one JSON object."""
    environment = {"WAYLINK_PORT": "9191"}
    lines = CliRunner().invoke(main, ["settings"], env=environment).stdout
    assert all(f"{variable_name(item)}=" in lines for item in fields(Settings))
    assert "WAYLINK_PORT=9191\n    Port that the service listens on." in lines
    values = json.loads(CliRunner().invoke(main, ["settings", "--json"], env=environment).stdout)
    assert (values["WAYLINK_PORT"], values["WAYLINK_BASE_URL"]) == (9191, "http://localhost:9191")


def test_a_bad_setting_stops_the_command() -> None:
    """A value that breaks its rule is named, with the rule."""
    done = CliRunner().invoke(main, ["settings"], env={"WAYLINK_PORT": "high"})
    assert done.exit_code == 1
    assert "WAYLINK_PORT is 'high', but it must be a port from 1 to 65535." in done.stderr

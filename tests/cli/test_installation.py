"""Which installation a command is for, and what it shows of its settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.processes.service_process import ServiceProcess, invoke

URI = "mongodb://admin:hunter2@db.example:27017/?replicaSet=w&tlsCertificateKeyFilePassword=s3cret&w=1"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that commands run in: one without an installation."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command", [("organization", "list"), ("report", "analytics", "--org", "x"), ("doctor",)], ids=" ".join
)
def test_no_database_is_made_by_accident(elsewhere: Path, command: tuple[str, ...]) -> None:
    """In a folder without an installation a command fails, says how to name one, and leaves nothing there."""
    done = invoke(*command, environment={})
    assert done.exit_code == 1
    assert f"There is no installation in {elsewhere / 'data'}, and nothing names another." in done.output
    assert "waylink --data-dir FOLDER" in done.output
    assert list(elsewhere.iterdir()) == []


def test_a_file_of_settings_names_the_installation(running: ServiceProcess, elsewhere: Path) -> None:
    """With the service's file of settings a command is about the service's database, from any folder."""
    created = running.command("organization", "create", "By file")
    file = elsewhere / "waylink.env"
    kept = {name: text for name, text in running.environment.items() if name.startswith("WAYLINK_")}
    file.write_text("".join(f"{name}={text}\n" for name, text in kept.items()))
    listed = invoke("--env-file", str(file), "organization", "list", "--json", environment={})
    assert created["id"] in {
        organization["id"] for organization in json.loads(listed.stdout)["organizations"]
    }
    afterwards = invoke("settings", "--json", environment={})
    assert json.loads(afterwards.stdout)["WAYLINK_MONGODB_URI"] is None
    assert "does not exist" in invoke("--env-file", "none.env", "settings", environment={}).output


def test_paths_in_a_file_of_settings_are_relative_to_it(elsewhere: Path) -> None:
    """From any folder the file names the same folder of data; those of the environment stay as they are."""
    (elsewhere / "service").mkdir()
    file = elsewhere / "service" / "waylink.env"
    file.write_text("WAYLINK_DATA_DIR=kept/data\nWAYLINK_PORT=8099\n")
    shown = json.loads(invoke("--env-file", str(file), "settings", "--json", environment={}).stdout)
    assert (shown["WAYLINK_DATA_DIR"], shown["WAYLINK_PORT"]) == (str(file.parent / "kept/data"), 8099)
    relative = json.loads(
        invoke("--env-file", "service/waylink.env", "settings", "--json", environment={}).stdout
    )
    assert Path(relative["WAYLINK_DATA_DIR"]).absolute() == file.parent / "kept/data"
    file.write_text(f"WAYLINK_DATA_DIR={elsewhere / 'absolute'}\n")
    shown = json.loads(invoke("--env-file", str(file), "settings", "--json", environment={}).stdout)
    assert shown["WAYLINK_DATA_DIR"] == str(elsewhere / "absolute")
    environment = {"WAYLINK_DATA_DIR": "mine"}
    assert (
        json.loads(invoke("settings", "--json", environment=environment).stdout)["WAYLINK_DATA_DIR"] == "mine"
    )


@pytest.mark.parametrize("how", [(), ("--json",)], ids=["lines", "json"])
def test_settings_show_no_secrets(how: tuple[str, ...]) -> None:
    """Neither the password in MongoDB's address, nor one among its options, nor the token for /metrics."""
    variables = {"WAYLINK_MONGODB_URI": URI, "WAYLINK_METRICS_TOKEN": "t0ken"}
    printed = invoke("settings", *how, environment=variables).stdout
    assert (
        "mongodb://admin:***@db.example:27017/?replicaSet=w&tlsCertificateKeyFilePassword=***&w=1" in printed
    )
    assert [secret for secret in ("hunter2", "s3cret", "t0ken") if secret in printed] == []
    assert "METRICS_TOKEN" in printed

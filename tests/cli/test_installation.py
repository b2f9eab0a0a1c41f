"""Which installation a command is for, and what it shows of its settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.system.environment_file import environment_in
from backend.system.shown_address import shown_address
from tests.processes.service_process import ServiceProcess, invoke

# Characters of settings: all but the byte of zero, which no variable can have.
SHOWN = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
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


# What a file says, as systemd.exec(5) describes EnvironmentFile=, and the value that it gives.
READ_BY_SYSTEMD = {
    "WAYLINK_METRICS_TOKEN=a # no comment": "a # no comment",
    'WAYLINK_METRICS_TOKEN="a # b"': "a # b",
    "WAYLINK_METRICS_TOKEN=$HOME": "$HOME",
    'WAYLINK_METRICS_TOKEN="${HOME}"': "${HOME}",
    "WAYLINK_METRICS_TOKEN='a\\b'": "a\\b",
    'WAYLINK_METRICS_TOKEN="a\\"b\\$c\\nd"': 'a"b$c\\nd',
    "WAYLINK_METRICS_TOKEN=a\\\nb": "ab",
    "WAYLINK_METRICS_TOKEN=  a b  ": "a b",
    'WAYLINK_METRICS_TOKEN=a"b"c': 'a"b"c',
    "WAYLINK_METRICS_TOKEN='a''b'": "ab",
    "WAYLINK_METRICS_TOKEN=a\r\n;WAYLINK_METRICS_TOKEN=b\r\n #WAYLINK_METRICS_TOKEN=c": "a",
    "WAYLINK_METRICS_TOKEN=a=b": "a=b",
    "WAYLINK_METRICS_TOKEN=x\\": "x",
    'WAYLINK_METRICS_TOKEN="x\\': "x",
    "WAYLINK_METRICS_TOKEN='x\\": "x\\",
    'WAYLINK_METRICS_TOKEN="x" \\': "x",
}


@pytest.mark.parametrize("text", READ_BY_SYSTEMD)
def test_a_file_of_settings_is_read_as_systemd_reads_it(text: str) -> None:
    """Quotes, backslashes, `$` and `#` mean in it what they mean to the service's unit."""
    assert environment_in(text) == {"WAYLINK_METRICS_TOKEN": READ_BY_SYSTEMD[text]}


@given(st.dictionaries(st.from_regex("[A-Z_]+", fullmatch=True), st.text(SHOWN), max_size=5))
def test_whatever_is_quoted_is_read(variables: dict[str, str]) -> None:
    """Any value comes through double quotes as it is."""
    quoted = {name: re.sub(r'(["\\`$])', r"\\\1", value) for name, value in variables.items()}
    assert environment_in("\n".join(f'{name}="{value}"' for name, value in quoted.items())) == variables


@given(st.text("Ab=#;\\\"' \t\r\n$", max_size=12))
def test_whatever_a_file_of_settings_ends_with_is_read(text: str) -> None:
    """Reading comes to the end of any text, however its quotes and backslashes stand."""
    assert all(name in text and "=" not in name for name in environment_in(text))


def test_a_file_of_settings_is_the_only_one(elsewhere: Path) -> None:
    """With it, a command has no setting of the environment, nor of a .env file where it is run."""
    (elsewhere / ".env").write_text("WAYLINK_PORT=8001\n")
    file = elsewhere / "waylink.env"
    file.write_text("WAYLINK_METRICS_TOKEN=x\n")
    environment = {"WAYLINK_WORKERS": "7"}
    alone = json.loads(invoke("--env-file", str(file), "settings", "--json", environment=environment).stdout)
    assert (alone["WAYLINK_PORT"], alone["WAYLINK_WORKERS"]) == (8080, 1)
    beside = json.loads(invoke("settings", "--json", environment=environment).stdout)
    assert (beside["WAYLINK_PORT"], beside["WAYLINK_WORKERS"]) == (8001, 7)


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


PASSWORDS = ["s3cret", "p@ss", "a/b", "a:b", "what?", "a#b", "ü", "100%", "with blank", "it's", "@", "a@b@c"]


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize(
    "form",
    [
        "postgresql://shop:{}@db.example:5432/shop",
        "postgresql://db.example/shop?user=shop&password={}",
        "https://shop:{}@columns.example:8443/shop",
        "mongodb://shop:{}@a.example,b.example/?replicaSet=w",
        "host=db.example password='{}' dbname=shop",
        "dbname=shop sslpassword = '{}'",
    ],
)
def test_no_password_is_shown(form: str, password: str) -> None:
    """Whatever a password contains, an address that is printed has none, and still names the database."""
    is_quoted = "'" in form
    given_password = password.replace("'", "\\'") if is_quoted else password
    shown = shown_address(form.format(given_password))
    assert shown == form.replace("'{}'" if is_quoted else "{}", "***")

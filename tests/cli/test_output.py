"""What commands print: tables for people, JSON for programs, completions for shells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.cli.table import cell
from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke


def test_a_list_has_headings(running: ServiceProcess, org_id: OrgId) -> None:
    """Rows stand under the names of their fields, in columns; without rows there is one word."""
    running.command("key", "create", "--org", org_id, "--kind", "rest")
    head, *rows = invoke("key", "list", "--org", org_id, environment=running.environment).stdout.splitlines()
    fields = "ID KIND NAME KEY CREATED LAST USED EXPIRES REVOKED LINKS SCOPES LIMITED TO"
    assert head.split() == fields.split()
    assert {row[head.index("KIND") :].split()[0] for row in rows} == {"rest"}
    assert all(row.endswith("  -") for row in rows)
    empty = invoke("origin", "list", "--org", org_id, environment=running.environment).stdout
    assert empty == "(none)\n"
    running.command("origin", "add", "https://a.example", "--org", org_id)
    listed = invoke("origin", "list", "--org", org_id, environment=running.environment).stdout
    assert listed == "ORIGINS\nhttps://a.example\n"
    running.command("origin", "remove", "https://a.example", "--org", org_id, "--yes")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "sentence"),
    [
        (("key", "list", "--org", "nobody"), 1, "There is no organization with the id 'nobody'"),
        (("key", "list"), 2, "Missing option '--org'"),
        (("kye", "list"), 2, "No such command 'kye'"),
    ],
)
def test_with_json_an_error_is_json(
    running: ServiceProcess, arguments: tuple[str, ...], exit_code: int, sentence: str
) -> None:
    """Nothing on stdout, one object with the sentence on stderr, and the same exit code as without."""
    done = invoke(*arguments, "--json", environment=running.environment)
    assert (done.exit_code, done.stdout) == (exit_code, "")
    assert sentence in json.loads(done.stderr)["error"]
    assert invoke(*arguments, environment=running.environment).exit_code == exit_code


def test_with_json_nobody_is_asked(running: ServiceProcess, org_id: OrgId) -> None:
    """What needs a confirmation is refused in JSON, before a question that no program could read."""
    command = ("privacy", "retention", "--org", org_id, "--days", "3")
    done = invoke(*command, "--json", environment=running.environment, typed="y\n")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "add --yes" in json.loads(done.stderr)["error"]


def test_what_is_in_a_value_is_shown_in_words() -> None:
    """People read no Python: names and values, yes and no, a dash for what is not there."""
    app = {"team_id": "ABCDE12345", "app_store_id": None}
    assert [cell(value) for value in (app, {}, ["a", "b"], [], True, None)] == [
        "team_id ABCDE12345", "-", "a, b", "-", "yes", "-",
    ]  # fmt: skip


def test_bash_completes_commands() -> None:
    """Bash, with the printed script, completes the names of commands."""
    script = invoke("completion", "bash", environment={}).stdout
    typed = "COMP_WORDS=(waylink org); COMP_CWORD=1"
    asked = f"{script}\n{typed}; _waylink_completion waylink; echo ${{COMPREPLY[@]}}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", asked], capture_output=True, text=True, check=True, env=os.environ | {"PATH": path}
    )
    assert done.stdout == "organization\n"
    assert "compdef" in invoke("completion", "zsh", environment={}).stdout

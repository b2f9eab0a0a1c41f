"""What commands print: tables for people, JSON for programs, completions for shells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from backend.cli.command import REFUSED_ROWS
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


def test_a_file_that_is_stdout_has_nothing_but_its_lines(
    running: ServiceProcess, org_id: OrgId, tmp_path: Path
) -> None:
    """What a command did is told on stderr then, whether stdout is a pipe or the end of another file."""
    rows, kept = tmp_path / "links.csv", tmp_path / "kept.jsonl"
    rows.write_text("domain,destination_url,link_name\nno.example,https://shop.example/,A\n")
    export = ("export", "--org", org_id, "-o", "/dev/stdout", "--json")
    refused = ("import", "csv", str(rows), "--org", org_id, "--report", "/dev/stdout")
    followed = ("follow", "--org", org_id, "--into", "ndjson", "--to", "/dev/stdout", "--once")
    archive = _printed(running, export)
    assert set(json.loads(archive.stdout.splitlines()[-1])) == {"counts", "sha256"}
    assert json.loads(archive.stderr.splitlines()[-1])["file"] == "/dev/stdout"
    kept.write_text("before\n")
    with kept.open("a") as file:
        _printed(running, export, file)
    before, *lines = kept.read_text().splitlines()
    assert (before, set(json.loads(lines[-1]))) == ("before", {"counts", "sha256"})
    report = _printed(running, refused, exit_code=REFUSED_ROWS)
    assert report.stdout.splitlines()[0].startswith("line,reason,")
    assert "Refused rows" in report.stderr
    assert "Stopped at cursor" in _printed(running, followed).stderr
    assert not Path("/dev/stdout.cursor").exists()
    null = _printed(running, ("follow", "--org", org_id, "--into", "csv", "--to", os.devnull), exit_code=2)
    assert f"--to must be a file: {os.devnull} is none" in null.stderr


def _printed(
    running: ServiceProcess,
    arguments: tuple[str, ...],
    to: IO[str] | int = subprocess.PIPE,
    exit_code: int = 0,
) -> subprocess.CompletedProcess[str]:
    """A command whose stdout is a pipe, or this file."""
    command = (sys.executable, "-m", "backend.cli", *arguments)
    environment = {**os.environ, **running.environment}
    done = subprocess.run(command, env=environment, stdout=to, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == exit_code, done.stderr
    return done


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

"""Clients that generators of others make of the OpenAPI document: they compile, and carry its types."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from sdk_build.build import ROOT
from sdk_build.node import install_packages, node_environment, run_node
from tests.api.link_calls import API
from tests.processes.service_process import ServiceProcess

CHECKS = Path(__file__).parents[1] / "client_checks"
CLIENT = "waylink_rest_api_client"
# Images, documents and archives, which the generator takes as bytes once it is told so.
FILES = dict.fromkeys(
    ("image/png", "image/svg+xml", "application/pdf", "application/x-ndjson"), "application/octet-stream"
)
STRICT = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--skipLibCheck"]
STRICT += ["--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext"]
# What both right uses print.
TOLD = {
    "one": ["accepted"],
    "many": ["duplicate", "rejected"],
    "refused": ["101", "customer_id", "currency"],
    "leads": ["accepted"],
    "events": ["accepted"],
    "identities": ["accepted"],
    "refund": ["accepted"],
    "refunds": ["duplicate"],
    "bulk": ["created", "created", "updated", "archived", "rejected"],
    "sold": {"EUR": True},
}


@pytest.fixture(scope="module")
def project(running: ServiceProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the running service's document, both clients made of it, and their uses."""
    install_packages(CHECKS)
    folder = tmp_path_factory.mktemp("clients")
    document = httpx.get(f"{running.base_url}{API}/openapi.json").text
    (folder / "openapi.json").write_text(document)
    (folder / "generator.yaml").write_text(json.dumps({"post_hooks": [], "content_type_overrides": FILES}))
    for file in [*CHECKS.glob("*.ts"), *CHECKS.glob("*.py"), CHECKS / "package.json"]:
        shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(CHECKS / "node_modules")
    run_program(
        folder, "openapi-python-client", "generate", "--path", "openapi.json", "--meta", "none",
        "--output-path", CLIENT, "--config", "generator.yaml", "--fail-on-warning",
    )  # fmt: skip
    run_node("openapi-typescript", "openapi.json", "--output", "schema.d.ts", cwd=folder, packages=CHECKS)
    return folder


@pytest.fixture(scope="module")
def shop(running: ServiceProcess) -> dict[str, str]:
    """Where a use finds the service: its address, and a key and domain of an organization of its own."""
    org_id = running.command("organization", "create", "Acme")["id"]
    running.command("domain", "add", "go.clients.example", "--org", org_id)
    key = running.command("key", "create", "--org", org_id, "--kind", "rest")["key"]
    return {"API": f"{running.base_url}{API}", "KEY": key, "DOMAIN": "go.clients.example"}


def run_program(folder: Path, name: str, *arguments: str) -> None:
    """Run a program of this environment, which must succeed."""
    program = Path(sys.executable).with_name(name)
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def printed(command: Sequence[str], folder: Path, environment: dict[str, str]) -> Any:
    """What a use prints."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines_marked_wrong(file: Path, mark: str) -> set[int]:
    """The numbers of the lines of a use that must be refused."""
    lines = file.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(mark)}


def test_the_python_client_compiles_and_refuses_wrong_uses(project: Path) -> None:
    """All of it passes `mypy --strict` with the right use; of the wrong use each line is refused, and only
    these."""
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache" / "clients")]
    done = subprocess.run(
        [*mypy, CLIENT, "right_use.py", "wrong_use.py"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in errors if not line.startswith("wrong_use.py:")] == []
    refused = {int(line.split(":")[1]) for line in errors}
    assert refused == lines_marked_wrong(project / "wrong_use.py", "# wrong"), done.stdout


def test_the_python_client_works(project: Path, shop: dict[str, str]) -> None:
    """The right use tells the running service what it is about, and understands its answers."""
    environment = shop | {"PYTHONDONTWRITEBYTECODE": "1"}
    assert printed([sys.executable, "right_use.py"], project, environment) == TOLD


def test_the_typescript_client_compiles_and_works(project: Path, shop: dict[str, str]) -> None:
    """So it is with `tsc --strict`; compiled, the right use runs in Node.js."""
    run_node("tsc", *STRICT, "--outDir", "built", "right_use.ts", "schema.d.ts", cwd=project, packages=CHECKS)
    told = printed(["node", "built/right_use.js"], project, node_environment() | shop)
    assert told == TOLD | {"colour": "red", "net": "40.00"}


def test_the_typescript_client_refuses_wrong_uses(project: Path) -> None:
    """The compiler refuses each line of it, and nothing else."""
    with pytest.raises(SystemExit) as refused:
        run_node("tsc", *STRICT, "--noEmit", "wrong_use.ts", cwd=project, packages=CHECKS)
    lines = {
        int(number) for number in re.findall(r"^wrong_use\.ts\((\d+),", str(refused.value), re.MULTILINE)
    }
    assert lines == lines_marked_wrong(project / "wrong_use.ts", "// wrong"), str(refused.value)

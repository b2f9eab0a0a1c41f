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
# What the uses call, and who answers with each sort of file. Of all operations the Python client
# has 90,000 lines, which take ten seconds; the client in TypeScript has the types of all.
USED = {
    "bulk_links", "post_link", "query_analytics", "tell_conversions", "tell_events", "tell_identities",
    "tell_leads", "tell_refunds", "get_qr_code", "export_clicks",
}  # fmt: skip
TEXTS = {"application/json", "text/csv", "text/event-stream", "application/vnd.apache.parquet"}
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
    document = httpx.get(f"{running.base_url}{API}/openapi.json").json()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "used.json").write_text(json.dumps(of_used_operations(document)))
    (folder / "generator.yaml").write_text(json.dumps({"post_hooks": [], "content_type_overrides": FILES}))
    for file in [*CHECKS.glob("*.ts"), *CHECKS.glob("*.py"), CHECKS / "package.json"]:
        shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(CHECKS / "node_modules")
    run_program(
        folder, "openapi-python-client", "generate", "--path", "used.json", "--meta", "none",
        "--output-path", CLIENT, "--config", "generator.yaml", "--fail-on-warning",
    )  # fmt: skip
    run_node("openapi-typescript", "openapi.json", "--output", "schema.d.ts", cwd=folder, packages=CHECKS)
    return folder


def of_used_operations(document: dict[str, Any]) -> dict[str, Any]:
    """The document of some operations, with what they refer to."""
    paths = {
        path: {method: operation for method, operation in methods.items() if operation["operationId"] in USED}
        for path, methods in document["paths"].items()
    }
    components: dict[str, dict[str, Any]] = {
        "securitySchemes": document["components"]["securitySchemes"],
    }
    waiting = referred_to(paths)
    while waiting:
        kind, name = waiting.pop()
        if name not in components.setdefault(kind, {}):
            components[kind][name] = document["components"][kind][name]
            waiting |= referred_to(components[kind][name])
    return document | {
        "paths": {path: paths[path] for path in paths if paths[path]},
        "components": components,
    }


def referred_to(part: object) -> set[tuple[str, str]]:
    """The components that a part of the document refers to, by their kinds."""
    return set(re.findall(r'"#/components/(\w+)/(\w[\w.-]*)"', json.dumps(part)))


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


def test_generators_know_each_type_of_answers(project: Path) -> None:
    """No operation answers with a file that a client would leave out with a warning."""
    document = json.loads((project / "openapi.json").read_text())
    operations = [operation for methods in document["paths"].values() for operation in methods.values()]
    answers = [answer for operation in operations for answer in operation["responses"].values()]
    assert {media_type for answer in answers for media_type in answer.get("content", ())} == TEXTS | {*FILES}


def test_the_python_client_compiles_and_refuses_wrong_uses(project: Path) -> None:
    """All of it passes `mypy --strict` with the right use; of the wrong use each line is refused, and only
    these."""
    # What it found out about libraries when it checked the project holds here, too.
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    mypy += ["--cache-dir", str(ROOT / ".mypy_cache")]
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


@pytest.fixture(scope="module")
def refused_by_tsc(project: Path) -> str:
    """What `tsc --strict` says of both uses, which it compiles all the same."""
    files = ["right_use.ts", "wrong_use.ts", "schema.d.ts"]
    with pytest.raises(SystemExit) as refused:
        run_node("tsc", *STRICT, "--outDir", "built", *files, cwd=project, packages=CHECKS)
    return str(refused.value)


def test_the_typescript_client_refuses_wrong_uses(project: Path, refused_by_tsc: str) -> None:
    """The compiler refuses each line of the wrong use, and nothing else."""
    places = re.findall(r"^([\w./]+)\((\d+),\d+\): error", refused_by_tsc, re.MULTILINE)
    lines = {(file, int(number)) for file, number in places}
    wrong = lines_marked_wrong(project / "wrong_use.ts", "// wrong")
    assert lines == {("wrong_use.ts", number) for number in wrong}, refused_by_tsc


@pytest.mark.usefixtures("refused_by_tsc")
def test_the_typescript_client_works(project: Path, shop: dict[str, str]) -> None:
    """Compiled, the right use runs in Node.js."""
    told = printed(["node", "built/right_use.js"], project, node_environment() | shop)
    assert told == TOLD | {"colour": "red", "net": "40.00"}

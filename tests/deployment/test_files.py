"""The Dockerfile, compose.yaml, the systemd unit and the Caddyfile: what holds without running them."""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.environment import load_settings, variable_name
from backend.settings import Settings
from tests.conftest import ServiceStarter

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "deploy" / "waylink.service"
FOLLOW_UNIT = ROOT / "deploy" / "waylink-follow.service"
ENVIRONMENT = ROOT / "deploy" / "waylink.env.example"
CADDYFILE = ROOT / "deploy" / "Caddyfile"
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
PINNED = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def instructions(name: str) -> list[str]:
    """What follows an instruction of the Dockerfile, each time that it occurs."""
    return re.findall(rf"^{name} +(.*)$", DOCKERFILE, re.MULTILINE)


def assignments(text: str) -> dict[str, str]:
    """The WAYLINK_ variables that a text sets."""
    return dict(re.findall(r"^(?:Environment=)?(WAYLINK_\w+)=(.*)$", text, re.MULTILINE))


def compose_environment() -> dict[str, str]:
    """The variables of the service, with the defaults that compose.yaml gives them."""
    given = COMPOSE["services"]["service"]["environment"]
    return {name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value) for name, value in given.items()}


def image_environment() -> dict[str, str]:
    """The WAYLINK_ variables of the image."""
    return dict(re.findall(r"(WAYLINK_\w+)=(\S+)", " ".join(instructions("ENV"))))


@pytest.mark.parametrize(
    "environment",
    [
        compose_environment(),
        image_environment(),
        assignments(UNIT.read_text()),
        assignments(FOLLOW_UNIT.read_text()),
        assignments(ENVIRONMENT.read_text()),
    ],
    ids=["compose.yaml", "Dockerfile", "waylink.service", "waylink-follow.service", "waylink.env.example"],
)
def test_every_variable_is_a_setting(environment: dict[str, str]) -> None:
    """Each WAYLINK_ variable exists, and its value keeps the setting's rule."""
    assert set(environment) <= {variable_name(item) for item in fields(Settings)}
    assert environment
    load_settings(environment)


def test_a_stopping_container_and_unit_have_the_time_they_need() -> None:
    """Docker and systemd kill later than the service takes at most: drain, last answers, last clicks."""
    settings = Settings()
    needed = settings.drain_seconds + settings.graceful_seconds + settings.last_ship_seconds + 5
    assert int(COMPOSE["services"]["service"]["stop_grace_period"].removesuffix("s")) > needed
    (unit,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)
    assert int(unit) > needed


def test_containers_have_bounded_logs() -> None:
    """A health check each few seconds leaves lines, which Docker keeps for ever unless told otherwise."""
    for service in COMPOSE["services"].values():
        assert {"max-size", "max-file"} <= service["logging"]["options"].keys()


def test_caddy_gives_connections_up_before_the_service_does() -> None:
    """Caddy keeps an idle connection for less time than the service, so it sends nothing on a closed one."""
    (seconds,) = re.findall(r"^\s*keepalive (\d+)s$", CADDYFILE.read_text(), re.MULTILINE)
    assert int(seconds) < Settings().keep_alive_seconds


def test_the_database_has_no_door_to_the_outside() -> None:
    """MongoDB publishes no port, and its network reaches nothing but the service."""
    mongodb = COMPOSE["services"]["mongodb"]
    assert "ports" not in mongodb
    assert all(COMPOSE["networks"][name]["internal"] for name in mongodb["networks"])


def test_the_database_of_compose_is_the_one_that_is_initiated() -> None:
    """The service's URI, mongod's option and the health check name the same replica set and member."""
    mongodb = COMPOSE["services"]["mongodb"]
    host, name = re.fullmatch(
        r"mongodb://(.*)/\?replicaSet=(.*)", compose_environment()["WAYLINK_MONGODB_URI"]
    ).groups()  # type: ignore[union-attr]
    assert mongodb["command"][:3] == ["mongod", "--replSet", name]
    assert f'_id: "{name}"' in mongodb["healthcheck"]["test"][-1]
    assert f'host: "{host}"' in mongodb["healthcheck"]["test"][-1]


def test_what_the_image_copies_exists_and_is_not_ignored() -> None:
    """Each source of a COPY is there, and .dockerignore lets it through."""
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = [
        word for line in instructions("COPY") if not line.startswith("--from") for word in line.split()[:-1]
    ]
    assert "backend" in sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch.fnmatch(source, pattern) for pattern in allowed), source


def test_the_image_does_not_run_as_root() -> None:
    """The last stage ends with a user that is not root, and starts `waylink serve` without a shell."""
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.findall(r"^USER (.*)$", last, re.MULTILINE) == ["10001"]
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["waylink"]
    assert json.loads(instructions("CMD")[0]) == ["serve"]


def test_the_health_check_of_the_image_tells_a_service_from_none(start_service: ServiceStarter) -> None:
    """Its command, run as it stands, succeeds beside a service and fails once that has stopped."""
    command = json.loads(re.findall(r"HEALTHCHECK.*CMD (\[.*\])", DOCKERFILE)[0])
    with start_service() as service:
        assert subprocess.run(command, env=service.environment, check=False).returncode == 0
        service.stop()
        failed = subprocess.run(command, env=service.environment, capture_output=True, check=False)
    assert failed.returncode != 0


def test_the_image_has_what_the_service_needs() -> None:
    """Its lock holds every dependency of pyproject.toml, and PostgreSQL's driver: what was tested."""
    everything = dict(PINNED.findall((ROOT / "requirements.lock").read_text()))
    text = (ROOT / "deploy" / "requirements.lock").read_text()
    image = dict(PINNED.findall(text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["postgres"]]
    needed = {re.split(r"[\[><=;]", requirement)[0].strip() for requirement in wanted}
    assert needed <= set(image), "renew deploy/requirements.lock with `make lock`"
    assert {name: everything.get(name) for name in image} == image
    assert text.count("--hash=sha256:") >= len(image)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("source", [UNIT, FOLLOW_UNIT], ids=lambda source: source.name)
def test_systemd_understands_the_units(source: Path, tmp_path: Path) -> None:
    """`systemd-analyze verify` has nothing to say about them, and finds them little exposed."""
    unit = tmp_path / source.name
    # The one thing that is not on this machine: the installed service.
    unit.write_text(source.read_text().replace("/opt/waylink/.venv/bin/waylink", shutil.which("true") or ""))
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    found = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout

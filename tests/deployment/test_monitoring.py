"""The alerts for Prometheus and the dashboard for Grafana in `deploy/monitoring`."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import REGISTRY

import backend.app  # with this and the next all metrics are registered
import backend.serving.connections  # noqa: F401
from tests.processes.programs import find_program

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "monitoring"
RULES: dict[str, Any] = yaml.safe_load((FOLDER / "waylink-rules.yaml").read_text())
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "waylink-dashboard.json").read_text())
# What Grafana puts in for a variable when it asks.
VARIABLES = {"$job": "waylink", "$instance": ".*", "$__rate_interval": "5m"}


def alerts() -> dict[str, str]:
    """The expression of each alert."""
    return {rule["alert"]: rule["expr"] for group in RULES["groups"] for rule in group["rules"]}


def panels() -> dict[str, list[str]]:
    """The expressions of each panel, as Grafana sends them."""
    return {
        panel["title"]: [filled_in(target["expr"]) for target in panel["targets"]]
        for panel in DASHBOARD["panels"]
    }


def filled_in(expression: str) -> str:
    """The expression with values for Grafana's variables."""
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression
    return expression


def expressions() -> list[str]:
    """All expressions, of alerts and of panels."""
    return [*alerts().values(), *(expression for several in panels().values() for expression in several)]


def promtool(*arguments: str) -> str:
    """What Prometheus's own tool says about a file, if it has nothing against it."""
    command = [find_program("promtool", "prometheus"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_each_alert_fires_when_it_should() -> None:
    """Prometheus's own tool takes the rules, and with the test's series each alert fires, or not, in time."""
    assert f"{len(alerts())} rules found" in promtool("check", "rules", str(FOLDER / "waylink-rules.yaml"))
    assert "SUCCESS" in promtool("test", "rules", str(FOLDER / "waylink-rules-test.yaml"))
    tested = (FOLDER / "waylink-rules-test.yaml").read_text()
    assert [alert for alert in alerts() if f"alertname: {alert}\n" not in tested] == []


def test_prometheus_takes_what_the_dashboard_asks(tmp_path: Path) -> None:
    """Every panel's expression is one that Prometheus can evaluate."""
    asked = [expression for several in panels().values() for expression in several]
    rules = [
        {"record": f"panel:number:{number}", "expr": expression} for number, expression in enumerate(asked)
    ]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    assert f"{len(asked)} rules found" in promtool("check", "rules", str(file))


def test_alerts_and_panels_read_metrics_that_exist() -> None:
    """Each metric that they name is one of the service's, and each of their labels is documented."""
    families = {
        f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in REGISTRY.collect()
    }
    named = {name for expression in expressions() for name in re.findall(r"\bwaylink_\w+", expression)}
    assert {name for name in named if name.removesuffix("_bucket") not in families} == set()
    documented = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "metrics.md").read_text()))
    groupings = [by for expression in expressions() for by in re.findall(r"by \(([^)]*)\)", expression)]
    used = {label for by in groupings for label in by.split(", ")}
    assert used - documented - {"instance", "le"} == set()


def test_every_alert_is_explained() -> None:
    """docs/operations.md names each alert, with what it means."""
    text = (ROOT / "docs" / "operations.md").read_text()
    assert [alert for alert in alerts() if f"`{alert}`" not in text] == []

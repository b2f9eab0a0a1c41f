"""`make audit`: looks up the locked dependencies in public lists of known vulnerabilities.

Python packages are checked by pip-audit (advisories of PyPI, else of OSV), npm packages by `npm audit`.
pip-audit also succeeds if it could look up nothing; so the packages that were looked up are counted here.
Exit codes: 0: all were looked up and none is vulnerable; 1: some are vulnerable; 2: none found, but some
could not be looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdk_build.node import node_environment

ROOT = Path(__file__).parents[1]
PYTHON_LOCKS = ("deploy/requirements.lock", "requirements.lock")
PIP_AUDIT = ROOT / ".venv" / "audit" / "bin" / "pip-audit"


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a lock file: the packages looked up, those that are vulnerable, and what went wrong."""

    looked_up: int = 0
    vulnerable: tuple[str, ...] = ()
    problem: str = ""


def read_pip_audit(output: str, errors: str) -> Report:
    """The report in the output of `pip-audit --format json`."""
    try:
        found: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Report(problem=_last_line(errors))
    skipped = [package["skip_reason"] for package in found if "skip_reason" in package]
    vulnerable = tuple(
        f"{package['name']} {package['version']}: {_names(package['vulns'])}"
        for package in found
        if package.get("vulns")
    )
    problem = f"{len(skipped)} packages were not looked up: {skipped[0]}" if skipped else ""
    return Report(len(found) - len(skipped), vulnerable, problem)


def read_npm_audit(output: str) -> Report:
    """The report in the output of `npm audit --json`."""
    try:
        found = json.loads(output)
    except ValueError:
        return Report(problem=_last_line(output))
    if "metadata" not in found:
        return Report(problem=str(found.get("message") or found.get("error")))
    vulnerable = tuple(f"{name}: {package['severity']}" for name, package in found["vulnerabilities"].items())
    return Report(int(found["metadata"]["dependencies"]["total"]), vulnerable)


def _names(vulnerabilities: list[dict[str, Any]]) -> str:
    return ", ".join(
        f"{vulnerability['id']} (mended in {', '.join(vulnerability['fix_versions']) or 'no version yet'})"
        for vulnerability in vulnerabilities
    )


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no answer"])[-1]


def audit_python(lock: Path) -> Report:
    """Check a Python lock file with PyPI, and with OSV if PyPI did not know all packages."""
    reports = [_pip_audit(lock, "pypi")]
    if reports[0].problem:
        reports.append(_pip_audit(lock, "osv"))
    return max(reports, key=lambda report: report.looked_up)


def _pip_audit(lock: Path, service: str) -> Report:
    command = [str(PIP_AUDIT), "--disable-pip", "--vulnerability-service", service, "--format", "json"]
    done = subprocess.run([*command, "-r", str(lock)], capture_output=True, text=True, check=False)
    return read_pip_audit(done.stdout, done.stderr)


def audit_npm(folder: Path) -> Report:
    """Check the package-lock.json in this folder with the npm registry."""
    done = subprocess.run(
        ["npm", "audit", "--json", "--package-lock-only"],
        cwd=folder,
        env=node_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return read_npm_audit(done.stdout)


def _tell(name: str, report: Report) -> None:
    print(f"{name}: {report.looked_up} packages looked up, {len(report.vulnerable)} vulnerable")
    for line in report.vulnerable:
        print(f"  {line}")
    if report.problem:
        print(f"  NOT CHECKED: {report.problem}")


def main() -> int:
    """Audit all lock files of the repository. Returns the exit code."""
    reports = {lock: audit_python(ROOT / lock) for lock in PYTHON_LOCKS}
    tracked = subprocess.run(
        ["git", "ls-files", "*package-lock.json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for lock in tracked.stdout.split():
        reports[lock] = audit_npm((ROOT / lock).parent)
    for name, report in reports.items():
        _tell(name, report)
    if any(report.vulnerable for report in reports.values()):
        return 1
    if any(report.problem for report in reports.values()):
        print("Not everything could be looked up: run this where PyPI, OSV and the npm registry answer.")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

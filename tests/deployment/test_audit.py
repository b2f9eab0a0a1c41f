"""What `make audit` makes of the answers of pip-audit and npm audit."""

from __future__ import annotations

import json

from deploy.audit import Report, read_npm_audit, read_pip_audit


def test_a_registry_that_knows_nothing_is_no_clean_bill() -> None:
    """pip-audit ends well where it looked up nothing; here that is a problem that is told."""
    reason = "Dependency not found on PyPI and could not be audited: aiofiles (25.1.0)"
    output = json.dumps({"dependencies": [{"name": "aiofiles", "skip_reason": reason}], "fixes": []})
    report = read_pip_audit(output, "No known vulnerabilities found")
    assert report == Report(problem=f"1 packages were not looked up: {reason}")


def test_vulnerable_packages_are_named() -> None:
    """With the advisory, and the version that mends it."""
    vulns = [{"id": "PYSEC-2023-1", "fix_versions": ["2.0"]}, {"id": "GHSA-x", "fix_versions": []}]
    found = [
        {"name": "a", "version": "1", "vulns": vulns},
        {"name": "b", "version": "1", "vulns": []},
    ]
    assert read_pip_audit(json.dumps({"dependencies": found}), "") == Report(
        2, ("a 1: PYSEC-2023-1 (mended in 2.0), GHSA-x (mended in no version yet)",)
    )


def test_a_tool_that_fails_says_why() -> None:
    """The last line of a traceback is the reason; no output at all is a problem too."""
    assert read_pip_audit("", "Traceback ...\nConnectionError: no name").problem == "ConnectionError: no name"
    assert read_pip_audit("", "").problem == "no answer"
    assert read_npm_audit("").problem == "no answer"


def test_what_npm_says() -> None:
    """A report has its counts; an error of the registry is a problem."""
    report = {
        "vulnerabilities": {"left-pad": {"severity": "high"}},
        "metadata": {"dependencies": {"total": 7}},
    }
    assert read_npm_audit(json.dumps(report)) == Report(7, ("left-pad: high",))
    assert read_npm_audit('{"message": "405 Method Not Allowed"}').problem == "405 Method Not Allowed"

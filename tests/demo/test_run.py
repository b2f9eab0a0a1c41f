"""What `make run` does with its options, as a process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.processes.demo_process import demo_process
from tests.processes.service_process import own_database


def test_history_is_made_and_removed_by_one_command(mongodb_uri: str, tmp_path: Path) -> None:
    """A first start makes history up and says so; one command removes it while the demo runs."""
    with (
        own_database(mongodb_uri) as variables,
        demo_process(tmp_path, options=["--history-days", "1"], **variables) as demo,
    ):
        assert "Making up links, clicks and sales of the past" in demo.printed
        removed = subprocess.run(
            [sys.executable, "-m", "demo_site", "--remove-history"],
            capture_output=True, text=True, env=demo.environment, timeout=60, check=True,
        )  # fmt: skip
    assert re.match(r"Removed 300 links with their clicks, \d+ leads and \d+ conversions\.", removed.stdout)

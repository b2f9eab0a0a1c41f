"""What `make run` does with its options, as a process."""

from __future__ import annotations

import re
from pathlib import Path

from demo_site.__main__ import main
from tests.processes.demo_process import demo_process
from tests.processes.service_process import invoke, own_database


def test_history_is_made_and_removed_by_one_command(mongodb_uri: str, tmp_path: Path) -> None:
    """A first start makes history up and says so; one command removes it while the demo runs."""
    with (
        own_database(mongodb_uri) as variables,
        demo_process(tmp_path, options=["--history-days", "1"], **variables) as demo,
    ):
        assert "Making up links, clicks and sales of the past" in demo.printed
        removed = invoke("--remove-history", environment=demo.environment, command=main)
        assert removed.exit_code == 0, removed.stderr
    assert re.match(r"Removed 300 links with their clicks, \d+ leads and \d+ conversions\.", removed.stdout)

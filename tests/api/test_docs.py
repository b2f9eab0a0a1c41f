"""docs/rest-api.md: the lines in it work."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.service_process import ServiceProcess

PAGE = Path(__file__).parents[2] / "docs" / "rest-api.md"


def curl_blocks() -> list[str]:
    """The shell blocks of the page that call the service."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if "curl" in block]


def test_every_curl_line_works(running: ServiceProcess, tmp_path: Path) -> None:
    """Pasted one after the other into a shell, each line of the page is answered with success."""
    blocks = curl_blocks()
    org_id = running.command("organization", "create", "Acme")["id"]
    running.command("domain", "add", "go.curl.example", "--org", org_id)
    running.command("subscription", "set", "--org", org_id, "--until", "2999-12-31")
    keys = {
        kind: running.command("key", "create", "--org", org_id, "--kind", kind)["key"]
        for kind in ("rest", "mobile")
    }
    # Each block's status goes to its own line; curl's --fail ends the shell at the first that is refused.
    script = "set -e\n" + "\necho\n".join(block.replace("curl -s", "curl -sS --fail") for block in blocks)
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=running.environment
        | {
            "WAYLINK": running.base_url,
            "KEY": keys["rest"],
            "MOBILE_KEY": keys["mobile"],
            "DOMAIN": "go.curl.example",
        },
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert len(answers) == len(blocks) - 6  # two only keep an id, two DELETE have no body, two write a file
    assert (tmp_path / "clicks.csv").read_text().startswith("time,link_id,")
    assert (tmp_path / "campaigns.csv").read_text().startswith("campaign,kind,clicks,conversions")
    assert answers[-1]["link"]["short_url"].endswith("/spring/sale")

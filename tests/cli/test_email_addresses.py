"""E-mail addresses that commands take."""

from __future__ import annotations

import pytest

from backend.domain.ids import OrgId
from tests.processes.service_process import ServiceProcess, invoke


@pytest.mark.parametrize("address", ["a@x.test\x07", "a..b@x.test"])
def test_at_the_command_line(running: ServiceProcess, org_id: OrgId, address: str) -> None:
    """Whoever types it reads the rule; nobody is made, invited or asked."""
    smtp = {"WAYLINK_SMTP_HOST": "localhost", "WAYLINK_SMTP_SENDER": "links@shop.example"}
    for command in (
        ("user", "create", address, "--org", org_id, "--password-stdin"),
        ("user", "invite", address, "--org", org_id),
        ("mail", "add", address, "--org", org_id, "--report", org_id),
        ("mail", "test", address),
    ):
        refused = invoke(*command, environment=running.environment | smtp)
        assert refused.exit_code != 0
        assert "must " in refused.output
